import { z } from 'zod';
import { SCOPES } from '../auth/rules/scope.js';
import { OPEN_LIST_MAX, openEnum } from '../schemas/open-enum.js';
import { instant, instantParameter } from '../schemas/instant.js';
import { enumParameter, limitParameter } from '../schemas/pagination.js';
import { dateTime } from '../schemas/text-schemas.js';
import { uuidParameter } from '../schemas/uuid.js';
import { count, externalIdParameter, positionCursor, positionParts, range } from './usage.schemas.js';

/** The UTC days from which scopes are suggested, if no range is given. */
export const SUGGESTION_DAYS = 30;

const { startsAt, keyId, operation, deprecated, requests } = positionParts;
export const keyUsageCursor = positionCursor({ startsAt, keyId, operation, deprecated });
export const deprecatedCallersCursor = positionCursor({ operation, keyId });
export const totalsCursor = positionCursor({ startsAt: instant });
export const topUsageCursor = positionCursor({ requests, id: keyId });
export const operationUsageCursor = positionCursor({ requests, operation, deprecated });

const limit = limitParameter('Maximum number of entries returned.');
const externalId = externalIdParameter('Only usage of keys whose quota has exactly this external id.');
/** The query parameters that select a key, or the keys of a quota. */
const selection = {
  keyId: uuidParameter('Only usage of the key with this identifier.', 'must be the id of a key'),
  quotaId: uuidParameter('Only usage of the keys of this quota.', 'must be the id of a quota'),
  externalId,
};

export const KeyUsageQuery = z.object({ limit, ...range, cursor: keyUsageCursor.parameter });
export type KeyUsageQuery = z.infer<typeof KeyUsageQuery>;

export const KeyUsageOfAllQuery = KeyUsageQuery.extend({ externalId });
export type KeyUsageOfAllQuery = z.infer<typeof KeyUsageOfAllQuery>;

export const DeprecatedCallersQuery = z.object({ limit, cursor: deprecatedCallersCursor.parameter });
export type DeprecatedCallersQuery = z.infer<typeof DeprecatedCallersQuery>;

export const UsageTotalsQuery = z.object({ limit, ...range, ...selection, cursor: totalsCursor.parameter });
export type UsageTotalsQuery = z.infer<typeof UsageTotalsQuery>;

export const TopUsageQuery = z.object({
  limit,
  ...range,
  by: enumParameter(['key', 'quota'], 'Groups the requests by key, the default, or by quota.'),
  externalId,
  cursor: topUsageCursor.parameter,
});
export type TopUsageQuery = z.infer<typeof TopUsageQuery>;

export const OperationUsageQuery = UsageTotalsQuery.extend({ cursor: operationUsageCursor.parameter });
export type OperationUsageQuery = z.infer<typeof OperationUsageQuery>;

export const ScopeSuggestionQuery = z.object({
  since: instantParameter(
    `Only UTC days that started at this time or later. Without it, the last ${SUGGESTION_DAYS}.`,
  ),
  until: instantParameter('Only UTC days that started before this time.'),
});
export type ScopeSuggestionQuery = z.infer<typeof ScopeSuggestionQuery>;

const SuggestedScope = z.object({
  scope: openEnum(SCOPES),
  uses: count('Requests that needed it and got 2xx or 3xx; 0 if it is unused.'),
  clientErrors: count('Requests that got another 4xx than 429: rejected, not found, or without this scope.'),
  lastRequestAt: dateTime('Time of the last of all these requests; null if there is none.').nullable(),
});

export const ScopeSuggestion = z
  .object({
    since: dateTime('Start of the range.'),
    until: dateTime('End of the range; null if it has none.').nullable(),
    scopes: SuggestedScope.array()
      .max(OPEN_LIST_MAX)
      .meta({ description: 'All scopes of the role of the key.' }),
  })
  .meta({
    id: 'ScopeSuggestion',
    description: 'The scopes that the requests of a key and its successors used, and the unused ones.',
  });
export type ScopeSuggestion = z.infer<typeof ScopeSuggestion>;
