import { z } from 'zod';
import { instant, instantParameter } from '../schemas/instant.js';
import { cursorParameter, once } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import { dateTime, keyHints, KEY_NAME_MAX_LENGTH, plainText, uuid } from '../schemas/text-schemas.js';
import { PERIODS } from './rules/periods.js';

const PERIOD_DEFAULT = 'day';
const OPERATION_MAX_LENGTH = 64;
/** How long usage is kept, for documents. */
export const USAGE_KEPT =
  'Minutes are kept for 2 to 30 days, as the service is set, hours for 35, days for 400.';
/** The most operations that a report has. */
export const OPERATIONS_MAX = 100;

/** Returns the schema of a number of requests, minutes or days. */
export const count = (description: string) => z.int().min(0).meta({ description });

/** The counts of every report of usage. */
const countFields = {
  requests: count('All requests, whatever their status.'),
  refusals: count('Requests that got 429.'),
  statuses: z
    .object({
      '2xx': count('Requests that succeeded.'),
      '3xx': count('Requests that got a redirect or 304.'),
      '4xx': count('Requests that got a client error, refusals included.'),
      '5xx': count('Requests that got a server error.'),
    })
    .meta({ description: 'Requests by status class.' }),
};
/** The requests in one UTC minute, hour or day. */
export const UsageTotals = z
  .object({ startsAt: dateTime('Start of the minute, hour or day.'), ...countFields })
  .meta({
    id: 'UsageTotals',
    description: 'The requests in one UTC minute, hour or day.',
    examples: [
      {
        startsAt: '2026-11-21T00:00:00.000Z',
        requests: 412,
        refusals: 3,
        statuses: { '2xx': 380, '3xx': 25, '4xx': 7, '5xx': 0 },
      },
    ],
  });
export type UsageTotals = z.infer<typeof UsageTotals>;

const ofKey = {
  keyId: uuid('Identifier of the key.'),
  keyName: plainText(
    'Name of the key; null if the key was deleted by direct SQL.',
    KEY_NAME_MAX_LENGTH,
  ).nullable(),
  prefix: keyHints.prefix.nullable(),
  lastFour: keyHints.lastFour.nullable(),
  quotaId: uuid('Identifier of its quota.'),
};
const ofRequests = { ...countFields, lastAt: dateTime('Time of the last request.') };

export const KeyUsage = z
  .object({ ...ofKey, ...ofRequests })
  .meta({ id: 'KeyUsage', description: 'The requests of one key in a range of time.' });
export type KeyUsage = z.infer<typeof KeyUsage>;

export const OperationUsage = z
  .object({
    operation: plainText(
      'The `operationId` of the operation; `none` for requests that matched no operation.',
      OPERATION_MAX_LENGTH,
    ),
    deprecated: z.boolean().meta({ description: 'Whether the operation was deprecated then.' }),
    ...ofRequests,
  })
  .meta({ id: 'OperationUsage', description: 'The requests for one operation in a range of time.' });
export type OperationUsage = z.infer<typeof OperationUsage>;

export const Usage = z
  .object({
    startsAt: UsageTotals.shape.startsAt,
    keyId: ofKey.keyId,
    quotaId: ofKey.quotaId,
    ...OperationUsage.shape,
  })
  .meta({
    id: 'Usage',
    description: 'The requests of one key for one operation in one UTC minute, hour or day.',
  });
export type Usage = z.infer<typeof Usage>;

/** The fields that have what the totals of a period are split by. */
const SPLIT_FIELDS = {
  operation: ['operation', 'deprecated'],
  key: ['keyId', 'keyName', 'lastFour'],
} as const;
export type UsageSplit = keyof typeof SPLIT_FIELDS;

export const OwnUsage = UsageTotals.extend({
  operation: OperationUsage.shape.operation.exactOptional(),
  deprecated: OperationUsage.shape.deprecated.exactOptional(),
  keyId: ofKey.keyId.exactOptional(),
  keyName: plainText('Name of the key.', KEY_NAME_MAX_LENGTH).exactOptional(),
  lastFour: keyHints.lastFour.exactOptional(),
}).meta({
  id: 'OwnUsage',
  description:
    'The requests in one UTC minute, hour or day. `operation` and `deprecated` are there by operation, ' +
    '`keyId`, `keyName` and `lastFour` by key.',
});
export type OwnUsage = z.infer<typeof OwnUsage>;

/** Returns the columns of totals as CSV, by the paths of their fields. */
export function totalsColumns(by?: UsageSplit): string[] {
  const statuses = Object.keys(countFields.statuses.shape).map((status) => `statuses.${status}`);
  return ['startsAt', ...(by === undefined ? [] : SPLIT_FIELDS[by]), 'requests', 'refusals', ...statuses];
}

export const DeprecatedCalls = z
  .object({
    operation: plainText('The `operationId` of the deprecated operation.', OPERATION_MAX_LENGTH),
    ...ofKey,
    requests: count('Number of calls in the last 400 days.'),
    lastAt: dateTime('Time of the last call.'),
  })
  .meta({ id: 'DeprecatedCalls', description: 'A key that has called a deprecated operation.' });
export type DeprecatedCalls = z.infer<typeof DeprecatedCalls>;

/** The query parameter `period`. */
export const periodParameter = z
  .enum(PERIODS, once(`must be one of ${PERIODS.join(', ')}`))
  .prefault(PERIOD_DEFAULT)
  .meta({ description: 'The UTC period by which requests are grouped.', default: PERIOD_DEFAULT });

/** The query parameters of a range of time. */
export const range = {
  period: periodParameter,
  since: instantParameter('Only periods that started at this time or later.'),
  until: instantParameter('Only periods that started before this time.'),
};

/** The parts of cursors' texts, which a client may have forged. */
export const SEPARATOR = '|';
export const keyIdPart = z.string().refine(isUuid);
export const operationPart = z.string().regex(/^\w+$/);
export const deprecatedPart = z.enum(['true', 'false']).transform((text) => text === 'true');

/** The query parameter `cursor` of totals: the page begins before the period that starts at this instant. */
export const totalsCursor = cursorParameter((position) => instant.safeParse(position).data ?? null);
