import { z } from 'zod';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { integerParameter, once } from '../schemas/pagination.js';
import { dateTime, plainText } from '../schemas/text-schemas.js';
import { count } from './usage.schemas.js';

const INT32_MAX = 2_147_483_647;
const PLAN_MESSAGE = 'must be the name of a plan';

const limitParameter = (description: string) =>
  integerParameter(INT32_MAX).optional().meta({ description, format: 'int64' });

export const WhatIfQuery = z.object({
  plan: z.string(once(PLAN_MESSAGE)).refine(isPlanName, PLAN_MESSAGE).optional().meta({
    description: 'The plan whose limits are tried.',
    maxLength: PLAN_NAME_MAX_LENGTH,
  }),
  perMinute: limitParameter('Requests per UTC minute, instead of those of the plan.'),
  perDay: limitParameter('Requests per UTC day, instead of those of the plan.'),
});
export type WhatIfQuery = z.infer<typeof WhatIfQuery>;

const planName = (description: string) => plainText(description, PLAN_NAME_MAX_LENGTH).nullable();

export const WhatIf = z
  .object({
    perMinute: z.int().min(1).meta({ description: 'The limit per UTC minute that was tried.' }),
    perDay: z.int().min(1).meta({ description: 'The limit per UTC day that was tried.' }),
    since: dateTime('Start of the first UTC day whose minutes are all kept.'),
    recordedDays: count('UTC days since then that have a recorded request.'),
    requests: count('Requests of all keys of the quota since then, also those that were denied.'),
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
