import { z } from 'zod';
import { SCOPES } from '../../http/rules/scope.js';
import { countParameter } from '../../schemas/pagination.js';
import { dateTime } from '../../schemas/text-schemas.js';

export const SUGGESTION_DAYS_DEFAULT = 30;
export const SUGGESTION_DAYS_MAX = 400;

export const ScopeSuggestionQuery = z.object({
  days: countParameter(
    SUGGESTION_DAYS_MAX,
    SUGGESTION_DAYS_DEFAULT,
    'Number of UTC days, today included. Days are kept for 400 days.',
  ),
});
export type ScopeSuggestionQuery = z.infer<typeof ScopeSuggestionQuery>;

export const ScopeSuggestion = z
  .object({
    since: dateTime('The start of the first day.'),
    scopes: z
      .object({
        scope: z.enum(SCOPES),
        requests: z.int().min(0).meta({ description: 'Successful requests that needed it; 0 if unused.' }),
        lastAt: dateTime('Time of the last request for their operations; null if unused.').nullable(),
      })
      .array()
      .max(SCOPES.length)
      .meta({ description: 'All scopes of the role of the key.' }),
  })
  .meta({
    id: 'ScopeSuggestion',
    description:
      'The scopes that successful requests of a key and its successors needed, and those that none needed.',
    examples: [
      {
        since: '2026-10-26T00:00:00.000Z',
        scopes: [
          { scope: 'pets:read', requests: 1234, lastAt: '2026-11-24T08:30:00.000Z' },
          { scope: 'pets:write', requests: 0, lastAt: null },
        ],
      },
    ],
  });
export type ScopeSuggestion = z.infer<typeof ScopeSuggestion>;
