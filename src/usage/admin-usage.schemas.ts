import { z } from 'zod';
import { SCOPES } from '../auth/rules/scope.js';
import { instant } from '../schemas/instant.js';
import { OPEN_LIST_MAX, openEnum } from '../schemas/open-enum.js';
import { countParameter, cursorParameter, enumParameter, limitParameter } from '../schemas/pagination.js';
import { dateTime } from '../schemas/text-schemas.js';
import { uuidParameter } from '../schemas/uuid.js';
import type { DeprecatedCallsPosition, UsagePosition } from './usage.repository.js';
import {
  count,
  deprecatedPart,
  keyIdPart,
  operationPart,
  periodParameter,
  range,
  SEPARATOR,
  totalsCursor,
  USAGE_KEPT,
} from './usage.schemas.js';

export const DAYS_MAX = 400;
export const DAYS_DEFAULT = 7;
export const SUGGESTION_DAYS = 30;

/** The positions of cursors' texts. */
const UsagePositionText = z
  .tuple([
    z.string().refine((text) => instant.safeParse(text).success),
    keyIdPart,
    operationPart,
    deprecatedPart,
  ])
  .transform(([startsAt, keyId, operation, deprecated]) => ({ startsAt, keyId, operation, deprecated }));
const DeprecatedCallsPositionText = z
  .tuple([operationPart, keyIdPart])
  .transform(([operation, keyId]) => ({ operation, keyId }));

export const UsageQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  days: countParameter(DAYS_MAX, DAYS_DEFAULT, `Number of UTC days, today included. ${USAGE_KEPT}`),
  period: periodParameter,
  /** The page begins after this entry. */
  cursor: cursorParameter((text) => UsagePositionText.safeParse(text.split(SEPARATOR)).data ?? null),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Returns the position of an entry as the text of a cursor. */
export function usagePosition({ startsAt, keyId, operation, deprecated }: UsagePosition): string {
  return [startsAt, keyId, operation, deprecated].join(SEPARATOR);
}

export const DeprecatedCallsQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  /** The page begins after this entry. */
  cursor: cursorParameter(
    (text) => DeprecatedCallsPositionText.safeParse(text.split(SEPARATOR)).data ?? null,
  ),
});
export type DeprecatedCallsQuery = z.infer<typeof DeprecatedCallsQuery>;

/** Returns the position of an entry as the text of a cursor. */
export function deprecatedCallsPosition({ operation, keyId }: DeprecatedCallsPosition): string {
  return [operation, keyId].join(SEPARATOR);
}

const quotaParameter = uuidParameter('Only usage of the keys of this quota.', 'must be the id of a quota');
const keyParameter = uuidParameter('Only usage of the key with this identifier.', 'must be the id of a key');

export const UsageTotalsQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  ...range,
  key: keyParameter,
  quota: quotaParameter,
  cursor: totalsCursor,
});
export type UsageTotalsQuery = z.infer<typeof UsageTotalsQuery>;

export const TopKeysQuery = z.object({
  limit: limitParameter('Maximum number of keys returned.'),
  ...range,
  by: enumParameter(
    ['key', 'quota'],
    'With `quota`, the keys of a quota are one entry, under the newest of them with requests.',
  ),
});
export type TopKeysQuery = z.infer<typeof TopKeysQuery>;

export const OperationUsageQuery = z.object({ ...range, key: keyParameter, quota: quotaParameter });
export type OperationUsageQuery = z.infer<typeof OperationUsageQuery>;

export const ScopeSuggestionQuery = z.object({
  days: countParameter(DAYS_MAX, SUGGESTION_DAYS, 'Number of UTC days, today included.'),
});
export type ScopeSuggestionQuery = z.infer<typeof ScopeSuggestionQuery>;

const SuggestedScope = z.object({
  scope: openEnum(SCOPES),
  requests: count('Successful requests that needed it; 0 if unused.'),
  clientErrors: count('Requests that got another 4xx than 429: rejected, not found, or without this scope.'),
  lastAt: dateTime('Time of the last of all these requests; null if there is none.').nullable(),
});

export const ScopeSuggestion = z
  .object({
    since: dateTime('The start of the first day.'),
    scopes: SuggestedScope.array()
      .max(OPEN_LIST_MAX)
      .meta({ description: 'All scopes of the role of the key.' }),
  })
  .meta({
    id: 'ScopeSuggestion',
    description:
      'The scopes that successful requests of a key and its successors needed, and the unused ones.',
  });
export type ScopeSuggestion = z.infer<typeof ScopeSuggestion>;
