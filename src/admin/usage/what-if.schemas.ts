import { z } from 'zod';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../../rate-limit/rules/plan-name.js';
import { countParameter, integerParameter, once } from '../../schemas/pagination.js';
import { dateTime, plainText } from '../../schemas/text-schemas.js';

export const WHAT_IF_DAYS_MAX = 30;
const INT32_MAX = 2_147_483_647;
const PLAN_MESSAGE = 'must be the name of a plan';

const limitParameter = (description: string) => integerParameter(INT32_MAX).optional().meta({ description });

/** The limits that are tried: those of a plan, or two numbers. */
export const WhatIfQuery = z.object({
  plan: z.string(once(PLAN_MESSAGE)).refine(isPlanName, PLAN_MESSAGE).optional().meta({
    description: 'The plan whose limits are tried. Give this, or `perMinute` and `perDay`.',
    maxLength: PLAN_NAME_MAX_LENGTH,
  }),
  perMinute: limitParameter('The limit of requests per UTC minute that is tried, with `perDay`.'),
  perDay: limitParameter('The limit of requests per UTC day that is tried, with `perMinute`.'),
  days: countParameter(
    WHAT_IF_DAYS_MAX,
    WHAT_IF_DAYS_MAX,
    'Number of UTC days, today included. Fewer are read if minutes are kept for less.',
  ),
});
export type WhatIfQuery = z.infer<typeof WhatIfQuery>;

const count = (description: string) => z.int().min(0).meta({ description });
const planName = (description: string) => plainText(description, PLAN_NAME_MAX_LENGTH).nullable();

export const WhatIf = z
  .object({
    perMinute: z.int32().min(1).meta({ description: 'The limit per UTC minute that was tried.' }),
    perDay: z.int32().min(1).meta({ description: 'The limit per UTC day that was tried.' }),
    since: dateTime(
      'Start of the range: of the first UTC day whose minutes are all kept, or of a later one.',
    ),
    recordedDays: count('UTC days in the range that have a recorded request.'),
    requests: count('Requests of all keys of the quota in the range, also those that were denied.'),
    refusals: count('Requests among them that got 429 when they were sent.'),
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
    smallestPlan: z
      .object({
        denyingNone: planName('The smallest plan that would have denied none; null if each would have.'),
        denyingFew: planName('The smallest plan that would have denied under 0.1 %; null for none.'),
      })
      .meta({
        description: 'Of the plans with limits. The smaller one allows fewer per day, then per minute.',
      }),
  })
  .meta({ id: 'WhatIf', description: 'What limits would have denied of the requests of a quota.' });
export type WhatIf = z.infer<typeof WhatIf>;
