import { z } from 'zod';
import { cursorParameter, limitParameter } from '../http/pagination.js';
import { plainText } from '../http/text-schemas.js';
import { Limits } from './limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';

const NAME_FAULT = 'must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter';

/** A name that a plan can be given. */
export const planName = z.string().refine(isPlanName, NAME_FAULT);

/** The numbers of a plan. */
export const PlanLimits = z.object(Limits.shape, { error: 'the body must be a JSON object' }).meta({
  id: 'PlanLimits',
  description: 'The numbers of a plan. They hold for all its quotas that have none of their own.',
  examples: [{ perMinute: 120, perDay: 3_000 }],
});

export const Plan = z
  .object({
    name: plainText('Name of the plan.', PLAN_NAME_MAX_LENGTH),
    perMinute: z
      .int32()
      .min(1)
      .nullable()
      .meta({ description: 'Requests per UTC minute; null where each quota has its own.' }),
    perDay: z
      .int32()
      .min(1)
      .nullable()
      .meta({ description: 'Requests per UTC day; null where each quota has its own.' }),
  })
  .meta({ id: 'Plan', description: 'A plan, and the numbers it gives.' });
export type Plan = z.infer<typeof Plan>;

export const PlanQuery = z.object({
  limit: limitParameter('Maximum number of plans returned.'),
  /** The name after which the page begins. */
  cursor: cursorParameter((name) => (isPlanName(name) ? name : null)),
});
export type PlanQuery = z.infer<typeof PlanQuery>;
