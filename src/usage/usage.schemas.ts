import { z } from 'zod';
import { instant } from '../schemas/instant.js';
import { cursorParameter, once } from '../schemas/pagination.js';
import { dateTime, plainText } from '../schemas/text-schemas.js';
import { PERIODS } from './rules/periods.js';

const PERIOD_DEFAULT = 'day';
export const OPERATION_MAX_LENGTH = 64;

const count = (description: string) => z.int().min(0).meta({ description });

/** The counts of every report of usage. */
export const countFields = {
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
export type CountFields = z.infer<z.ZodObject<typeof countFields>>;

export const deprecatedOperation = plainText(
  'The `operationId` of the deprecated operation.',
  OPERATION_MAX_LENGTH,
);
/** The calls to a deprecated operation. */
export const callFields = {
  requests: count('Number of calls in the last 400 days.'),
  lastAt: dateTime('Time of the last call.'),
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

/** The query parameter `period`. */
export const periodParameter = z
  .enum(PERIODS, once(`must be one of ${PERIODS.join(', ')}`))
  .prefault(PERIOD_DEFAULT)
  .meta({ description: 'The UTC period by which requests are grouped.', default: PERIOD_DEFAULT });

/** The query parameter `cursor` of totals: the page begins before the period that starts at this instant. */
export const totalsCursor = cursorParameter((position) => instant.safeParse(position).data ?? null);
