import { z } from 'zod';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../../rate-limit/rules/plan-name.js';
import { countParameter, once } from '../../schemas/pagination.js';
import { dateTime, plainText } from '../../schemas/text-schemas.js';

export const WHAT_IF_DAYS_MAX = 30;
const INT32_MAX = 2_147_483_647;
const PLAN_MESSAGE = 'must be the name of a plan';
const LIMIT_MESSAGE = `must be an integer from 1 to ${INT32_MAX}`;

const limitParameter = (description: string) =>
  z
    .string(once(LIMIT_MESSAGE))
    .regex(/^[1-9]\d{0,9}$/, LIMIT_MESSAGE)
    .transform(Number)
    .pipe(z.int32(LIMIT_MESSAGE).min(1))
    .optional()
    .meta({ description });

/** The limits that are tried: those of a plan, or two numbers. */
export const WhatIfQuery = z
  .object({
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
  })
  .check(
    z.superRefine<Partial<Record<'plan' | 'perMinute' | 'perDay', unknown>>>(
      ({ plan, perMinute, perDay }, context) => {
        const limits = [perMinute, perDay].filter((limit) => limit !== undefined).length;
        if (limits !== (plan === undefined ? 2 : 0)) {
          const message =
            plan === undefined
              ? 'is required, or both perMinute and perDay'
              : 'must not be given with perMinute or perDay';
          context.addIssue({ code: 'custom', path: ['plan'], message });
        }
      },
      // Otherwise an invalid limit would also be missing.
      { when: ({ issues }) => issues.length === 0 },
    ),
  );
export type WhatIfQuery = z.infer<typeof WhatIfQuery>;

const count = (description: string) => z.int().min(0).meta({ description });
const planName = (description: string) => plainText(description, PLAN_NAME_MAX_LENGTH).nullable();

/** What limits would have denied of the requests of a quota. */
export const WhatIf = z
  .object({
    plan: planName('The plan whose limits were tried; null for limits of your own.'),
    perMinute: z.int32().min(1).meta({ description: 'The limit per UTC minute that was tried.' }),
    perDay: z.int32().min(1).meta({ description: 'The limit per UTC day that was tried.' }),
    since: dateTime('Start of the range, which is that of a UTC day.'),
    until: dateTime('End of the range: the time of this response.'),
    firstMinute: dateTime(
      'Start of the first recorded minute within the range; null if there is none.',
    ).nullable(),
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
      .meta({
        description:
          'The minute with the most denied requests, the first of several; null if none was denied.',
      }),
    smallestPlan: z
      .object({
        denyingNone: planName(
          'The smallest plan that would have denied no request; null if each would have.',
        ),
        denyingFew: planName('The smallest plan that would have denied under 0.1 % of them; null for none.'),
      })
      .meta({
        description:
          'Of the plans with limits of their own. A smaller one allows fewer per day, then per minute.',
      }),
  })
  .meta({
    id: 'WhatIf',
    description: 'What limits would have denied of the requests of a quota.',
    examples: [
      {
        plan: 'pro',
        perMinute: 300,
        perDay: 10_000,
        since: '2026-10-23T00:00:00.000Z',
        until: '2026-11-21T08:30:00.000Z',
        firstMinute: '2026-10-23T00:02:00.000Z',
        requests: 81_204,
        refusals: 12,
        denied: 310,
        deniedMinutes: 4,
        deniedDays: 2,
        worstMinute: { startsAt: '2026-11-02T09:00:00.000Z', requests: 480, denied: 180 },
        smallestPlan: { denyingNone: 'business', denyingFew: 'business' },
      },
    ],
  });
export type WhatIf = z.infer<typeof WhatIf>;
