import { z } from 'zod';
import { SCOPES } from '../../http/rules/scope.js';
import { countParameter } from '../../schemas/pagination.js';
import { dateTime } from '../../schemas/text-schemas.js';
import { DAYS_MAX } from './usage.schemas.js';

export const SUGGESTION_DAYS = 30;

export const ScopeSuggestionQuery = z.object({
  days: countParameter(DAYS_MAX, SUGGESTION_DAYS, 'Number of UTC days, today included.'),
});
export type ScopeSuggestionQuery = z.infer<typeof ScopeSuggestionQuery>;

const SuggestedScope = z.object({
  scope: z.enum(SCOPES),
  requests: z.int().min(0).meta({ description: 'Successful requests that needed it; 0 if unused.' }),
  lastAt: dateTime('Time of the last request for their operations; null if unused.').nullable(),
});

export const ScopeSuggestion = z
  .object({
    since: dateTime('The start of the first day.'),
    scopes: SuggestedScope.array()
      .max(SCOPES.length)
      .meta({ description: 'All scopes of the role of the key.' }),
  })
  .meta({
    id: 'ScopeSuggestion',
    description:
      'The scopes that successful requests of a key and its successors needed, and the unused ones.',
  });
export type ScopeSuggestion = z.infer<typeof ScopeSuggestion>;
