import { z } from 'zod';
import { instant, instantParameter } from '../schemas/instant.js';
import { cursorParameter, once } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import {
  dateTime,
  keyHints,
  KEY_NAME_MAX_LENGTH,
  lineParameter,
  plainText,
  uuid,
} from '../schemas/text-schemas.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { PERIODS } from './rules/periods.js';

const PERIOD_DEFAULT = 'day';
export const OPERATION_MAX_LENGTH = 64;
export const USAGE_KEPT =
  'Minutes are kept for 2 to 30 days, as the service is set, hours for 35, days for 400.';
export const EXTERNAL_ID_MAX_LENGTH = 255;
export const shownExternalId = plainText(
  'What administrators call the customer of the quota; null if it has no such name.',
  EXTERNAL_ID_MAX_LENGTH,
).nullable();
/** Returns the schema of a number of requests, minutes or days. */
export const count = (description: string) => z.int().min(0).meta({ description });

const countFields = {
  requests: count('All requests, whatever their status.'),
  denied: count(
    'Requests that got 429, for whatever reason. `denialsUntilBan` counts those denied by a window.',
  ),
  statuses: z
    .object({
      '2xx': count('Requests that succeeded.'),
      '3xx': count('Requests that got a redirect or 304.'),
      '4xx': count('Requests that got a client error, denied requests included.'),
      '5xx': count('Requests that got a server error.'),
    })
    .meta({ description: 'Requests by status class.' }),
};
export const UsageTotals = z
  .object({ startsAt: dateTime('Start of the minute, hour or day.'), ...countFields })
  .meta({
    id: 'UsageTotals',
    description: 'The requests in one UTC minute, hour or day.',
    examples: [
      {
        startsAt: '2026-11-21T00:00:00.000Z',
        requests: 412,
        denied: 3,
        statuses: { '2xx': 380, '3xx': 25, '4xx': 7, '5xx': 0 },
      },
    ],
  });
export type UsageTotals = z.infer<typeof UsageTotals>;

const keyFields = {
  keyId: uuid('Identifier of the key.'),
  keyName: plainText(
    'Name of the key; null if the key was deleted by direct SQL.',
    KEY_NAME_MAX_LENGTH,
  ).nullable(),
  prefix: keyHints.prefix.nullable(),
  lastFour: keyHints.lastFour.nullable(),
  quotaId: uuid('Identifier of its quota.'),
  externalId: shownExternalId,
};
const requestFields = { ...countFields, lastRequestAt: dateTime('Time of the last request.') };

export const TopUsage = z
  .object({
    ...keyFields,
    keyId: keyFields.keyId.nullable().meta({ description: 'Identifier of the key; null for a quota.' }),
    keyName: keyFields.keyName.meta({
      description: 'Name of the key; null for a quota, or if the key was deleted by direct SQL.',
    }),
    quotaId: uuid('Identifier of the quota, or of the quota of the key.'),
    plan: plainText(
      'The plan that the quota is on now; null if the quota was deleted by direct SQL.',
      PLAN_NAME_MAX_LENGTH,
    ).nullable(),
    ...requestFields,
  })
  .meta({ id: 'TopUsage', description: 'The requests of one key, or of one quota, in a range of time.' });
export type TopUsage = z.infer<typeof TopUsage>;

export const OperationUsage = z
  .object({
    operation: plainText(
      'The `operationId` of the operation; `none` for requests that matched no operation.',
      OPERATION_MAX_LENGTH,
    ),
    deprecated: z.boolean().meta({ description: 'Whether the operation was deprecated then.' }),
    ...requestFields,
  })
  .meta({ id: 'OperationUsage', description: 'The requests for one operation in a range of time.' });
export type OperationUsage = z.infer<typeof OperationUsage>;

export const KeyUsage = z
  .object({
    startsAt: UsageTotals.shape.startsAt,
    keyId: keyFields.keyId,
    quotaId: keyFields.quotaId,
    externalId: keyFields.externalId,
    ...OperationUsage.shape,
  })
  .meta({
    id: 'KeyUsage',
    description: 'The requests of one key for one operation in one UTC minute, hour or day.',
  });
export type KeyUsage = z.infer<typeof KeyUsage>;

/** The fields that have what the totals of a period are split by. */
const SPLIT_FIELDS = {
  operation: ['operation', 'deprecated'],
  key: ['keyId', 'keyName', 'lastFour'],
} as const;
export type UsageSplit = keyof typeof SPLIT_FIELDS;

export const Usage = UsageTotals.extend({
  operation: OperationUsage.shape.operation.exactOptional(),
  deprecated: OperationUsage.shape.deprecated.exactOptional(),
  keyId: keyFields.keyId.exactOptional(),
  keyName: plainText('Name of the key.', KEY_NAME_MAX_LENGTH).exactOptional(),
  lastFour: keyHints.lastFour.exactOptional(),
}).meta({
  id: 'Usage',
  description:
    'The requests in one UTC minute, hour or day. `operation` and `deprecated` are present with ' +
    '`by=operation`, `keyId`, `keyName` and `lastFour` with `by=key`.',
});
export type Usage = z.infer<typeof Usage>;

const COUNT_COLUMNS = [
  'requests',
  'denied',
  ...Object.keys(countFields.statuses.shape).map((status) => `statuses.${status}`),
];

/** Returns the columns of totals as CSV, by the paths of their fields. */
export function totalsColumns(by?: UsageSplit): string[] {
  return ['startsAt', ...(by === undefined ? [] : SPLIT_FIELDS[by]), ...COUNT_COLUMNS];
}

/** The columns of other reports as CSV. */
export const KEY_USAGE_COLUMNS = columnsOf(KeyUsage);
export const TOP_COLUMNS = columnsOf(TopUsage);
export const OPERATION_COLUMNS = columnsOf(OperationUsage);

function columnsOf({ shape }: { shape: Record<string, z.ZodType> }): string[] {
  const names = Object.keys(shape).filter((name) => !Object.hasOwn(requestFields, name));
  return [...names, ...COUNT_COLUMNS, 'lastRequestAt'];
}

export const DeprecatedCaller = z
  .object({
    operation: plainText('The `operationId` of the deprecated operation.', OPERATION_MAX_LENGTH),
    ...keyFields,
    requests: count('Number of calls in the last 400 days.'),
    lastCalledAt: dateTime('Time of the last call.'),
  })
  .meta({ id: 'DeprecatedCaller', description: 'A key that has called a deprecated operation.' });
export type DeprecatedCaller = z.infer<typeof DeprecatedCaller>;

export const externalIdParameter = (description: string) =>
  lineParameter(description, EXTERNAL_ID_MAX_LENGTH).optional();

const PLAN_MESSAGE = 'must be the name of a plan';
export const planParameter = (description: string) =>
  z
    .string(once(PLAN_MESSAGE))
    .refine(isPlanName, PLAN_MESSAGE)
    .optional()
    .meta({ description, maxLength: PLAN_NAME_MAX_LENGTH });

const periodParameter = z
  .enum(PERIODS, once(`must be one of ${PERIODS.join(', ')}`))
  .prefault(PERIOD_DEFAULT)
  .meta({ description: 'The UTC period by which requests are grouped.', default: PERIOD_DEFAULT });

/** The query parameters of a range of time, grouped by period. */
export const range = {
  period: periodParameter,
  since: instantParameter('Only periods that started at this time or later.'),
  until: instantParameter('Only periods that started before this time.'),
};

/** The parts of a position in a sorted list, as a cursor's text has them, which a client may have forged. */
export const positionParts = {
  startsAt: z.string().refine((text) => instant.safeParse(text).success),
  keyId: z.string().refine(isUuid),
  operation: z.string().regex(/^\w+$/),
  deprecated: z.enum(['true', 'false']).transform((text) => text === 'true'),
  requests: z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number),
};

const SEPARATOR = '|';
type Parts = Record<string, z.ZodType>;
type Position<Each> = Each extends Parts ? { [Name in keyof Each]: z.output<Each[Name]> } : never;

/**
 * Returns the query parameter `cursor` of a list, and what writes the position of an entry.
 *
 * @param forms the parts that a position may have.
 */
export function positionCursor<const Forms extends Parts[]>(...forms: Forms) {
  const names = new Set(forms.flatMap(Object.keys));
  const schemas = forms.map((parts) => ({ names: Object.keys(parts), schema: z.object(parts) }));
  const read = (text: string) => {
    const values = text.split(SEPARATOR);
    const fitting = schemas.filter((form) => form.names.length === values.length);
    const positions = fitting.map(
      (form) =>
        form.schema.safeParse(Object.fromEntries(form.names.map((name, at) => [name, values[at]]))).data,
    );
    return (positions.find((position) => position !== undefined) ?? null) as Position<Forms[number]> | null;
  };
  return {
    parameter: cursorParameter(read),
    textOf: (entry: object) => {
      const values = [...names].map((name) => (entry as Record<string, string | undefined>)[name]);
      return values.filter((value) => value !== undefined).join(SEPARATOR);
    },
  };
}
