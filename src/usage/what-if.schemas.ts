import { z } from 'zod';
import { PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { instantParameter } from '../schemas/instant.js';
import { INT32_MAX } from '../schemas/int32.js';
import { integerParameter } from '../schemas/pagination.js';
import { dateTime, plainText } from '../schemas/text-schemas.js';
import { count, planParameter } from './usage.schemas.js';

/** The most entries that `smallestPlans` may have some day. */
const SMALLEST_PLANS_MAX = 10;

const limitParameter = (description: string) =>
  integerParameter(INT32_MAX).optional().meta({ description, format: 'int64' });

export const WhatIfQuery = z.object({
  plan: planParameter('The plan whose limits are tried.'),
  perMinute: limitParameter('Requests per UTC minute, instead of those of the plan.'),
  perDay: limitParameter('Requests per UTC day, instead of those of the plan.'),
  since: instantParameter(
    'Only UTC days that started at this time or later. Without it, all whose minutes are kept.',
  ),
  until: instantParameter('Only minutes that started before this time.'),
});
export type WhatIfQuery = z.infer<typeof WhatIfQuery>;

export const WhatIf = z
  .object({
    perMinute: z.int().min(1).meta({ description: 'The limit per UTC minute that was tried.' }),
    perDay: z.int().min(1).meta({ description: 'The limit per UTC day that was tried.' }),
    since: dateTime('Start of the first UTC day of the range. The minutes of all its days are kept.'),
    until: dateTime('End of the range; null if it has none.').nullable(),
    recordedDays: count('UTC days in it that have a recorded request.'),
    requests: count('Requests of all keys of the quota in it, those that were denied included.'),
    denied: count('Requests that these limits would have denied.'),
    deniedMinutes: count('Minutes in which they would have denied a request.'),
    deniedDays: count('UTC days on which they would have denied a request.'),
    worstMinute: z
      .object({
        startsAt: dateTime('Start of the minute.'),
        requests: count('Requests in it.'),
        denied: count('Requests in it that would have been denied.'),
      })
      .nullable()
      .meta({ description: 'The first minute with the most denied requests; null if none was denied.' }),
    smallestPlans: z
      .object({
        maxDeniedRatio: z
          .number()
          .min(0)
          .max(1)
          .meta({ description: 'The part of the requests that a plan may have denied, such as 0.001.' }),
        plan: plainText(
          'The smallest plan that would have denied no more; null if every plan would have.',
          PLAN_NAME_MAX_LENGTH,
        ).nullable(),
      })
      .array()
      .max(SMALLEST_PLANS_MAX)
      .meta({
        description:
          'The smallest plans for 0 and for 0.001, in this order; further ratios may follow. Of the plans ' +
          'with limits, the smaller one allows fewer requests per day, then per minute.',
      }),
  })
  .meta({ id: 'WhatIf', description: 'What limits would have denied of the requests of a quota.' });
export type WhatIf = z.infer<typeof WhatIf>;
