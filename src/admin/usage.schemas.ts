import { z } from 'zod';
import { countParameter, cursorParameter, limitParameter, once } from '../http/pagination.js';
import { sentAs } from '../http/json-schema.js';
import { dateTime, plainText, uuid } from '../http/text-schemas.js';
import { PERIODS } from '../usage/periods.js';
import type { DeprecatedCallsPosition, UsagePosition } from '../usage/usage.repository.js';
import { isKeyId, NAME_MAX_LENGTH as KEY_NAME_MAX_LENGTH } from './key.schemas.js';

export const DAYS_MAX = 400;
export const DAYS_DEFAULT = 7;
const PERIOD_DEFAULT = 'day';
const SEPARATOR = '|';
const OPERATION_MAX_LENGTH = 64;

const keyIdPart = z.string().refine(isKeyId);
const operationPart = z.string().regex(/^\w+$/);
/** The parts of a cursor's text: one that was made up may hold anything. */
const usagePlace = z.tuple([z.iso.datetime(), keyIdPart, operationPart, z.enum(['true', 'false'])]);
const callersPlace = z.tuple([operationPart, keyIdPart]);

const count = (description: string) => z.int().min(0).meta({ description });

/** What one key has asked of one operation in one UTC minute, hour or day. */
export const Usage = z
  .object({
    startsAt: dateTime('When the minute, hour or day began.'),
    keyId: uuid('Identifier of the key.'),
    quotaId: uuid('Identifier of its quota.'),
    operation: plainText(
      'The operation, as its `operationId`; `none` for requests that met no operation.',
      OPERATION_MAX_LENGTH,
    ),
    deprecated: z.boolean().meta({ description: 'Whether the operation was deprecated then.' }),
    requests: count('All requests, whatever their answer.'),
    refusals: count('Those answered 429.'),
    statuses: z
      .object({
        '2xx': count('Those that succeeded.'),
        '3xx': count('Those answered with a redirection, or 304.'),
        '4xx': count("Those answered with a client's error, refusals too."),
        '5xx': count("Those answered with a server's error."),
      })
      .meta({ description: 'Requests by the class of their status.' }),
    lastAt: dateTime('When the last of them came.'),
  })
  .meta({
    id: 'Usage',
    description: 'What one key has asked of one operation in one UTC minute, hour or day.',
  });
export type Usage = z.infer<typeof Usage>;

export const UsageQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  days: countParameter(
    DAYS_MAX,
    DAYS_DEFAULT,
    'How many UTC days, today among them. Minutes are kept for 48 hours, hours for 35 days, days for 400.',
  ),
  period: sentAs(
    z.enum(PERIODS).default(PERIOD_DEFAULT),
    z
      .enum(PERIODS, once(`must be one of ${PERIODS.join(', ')}`))
      .default(PERIOD_DEFAULT)
      .meta({ description: 'By which periods of UTC time the requests are counted.' }),
  ),
  /** The entry after which the page begins. */
  cursor: cursorParameter(readUsagePosition),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** The text of a place among the usage, for a cursor. */
export function usagePosition({ startsAt, keyId, operation, deprecated }: Usage): string {
  return [startsAt, keyId, operation, deprecated].join(SEPARATOR);
}

function readUsagePosition(text: string): UsagePosition | null {
  const { data } = usagePlace.safeParse(text.split(SEPARATOR));
  return data === undefined
    ? null
    : { startsAt: new Date(data[0]), keyId: data[1], operation: data[2], deprecated: data[3] === 'true' };
}

/** A key that has called a deprecated operation. */
export const DeprecatedCalls = z
  .object({
    operation: plainText('The deprecated operation, as its `operationId`.', OPERATION_MAX_LENGTH),
    keyId: uuid('Identifier of the key.'),
    keyName: plainText(
      'What the key is for; null when it was removed by hand.',
      KEY_NAME_MAX_LENGTH,
    ).nullable(),
    quotaId: uuid('Identifier of its quota.'),
    requests: count('How often it called, in the 400 days that are kept.'),
    lastAt: dateTime('When it last called.'),
  })
  .meta({ id: 'DeprecatedCalls', description: 'A key that has called a deprecated operation.' });
export type DeprecatedCalls = z.infer<typeof DeprecatedCalls>;

export const DeprecatedCallsQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  /** The entry after which the page begins. */
  cursor: cursorParameter(readDeprecatedCallsPosition),
});
export type DeprecatedCallsQuery = z.infer<typeof DeprecatedCallsQuery>;

/** The text of a place among the callers of deprecated operations, for a cursor. */
export function deprecatedCallsPosition({ operation, keyId }: DeprecatedCalls): string {
  return [operation, keyId].join(SEPARATOR);
}

function readDeprecatedCallsPosition(text: string): DeprecatedCallsPosition | null {
  const { data } = callersPlace.safeParse(text.split(SEPARATOR));
  return data === undefined ? null : { operation: data[0], keyId: data[1] };
}
