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

const scope = z.enum(SCOPES);

/** The scopes that a key used, and those that it did not. */
export const ScopeSuggestion = z
  .object({
    since: dateTime('The start of the first day.'),
    used: z
      .object({
        scope,
        requests: z.int().min(0).meta({ description: 'Requests of the key that needed the scope.' }),
        lastAt: dateTime('When the last of them was.'),
      })
      .array()
      .max(SCOPES.length)
      .meta({ description: 'The scopes that requests of the key needed.' }),
    unused: scope
      .array()
      .max(SCOPES.length)
      .meta({ description: 'The other scopes that the role of the key includes.' }),
  })
  .meta({
    id: 'ScopeSuggestion',
    description: 'The scopes that a key needs, by its usage. Requests that were denied count as well.',
    examples: [
      {
        since: '2026-10-26T00:00:00.000Z',
        used: [{ scope: 'pets:read', requests: 1234, lastAt: '2026-11-24T08:30:00.000Z' }],
        unused: ['pets:write', 'orders:read', 'orders:write'],
      },
    ],
  });
export type ScopeSuggestion = z.infer<typeof ScopeSuggestion>;
