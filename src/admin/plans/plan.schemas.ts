import { z } from 'zod';
import { cursorParameter, limitParameter } from '../../schemas/pagination.js';
import { plainText } from '../../schemas/text-schemas.js';
import { Limits, shownLimit } from './limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../../rate-limit/rules/plan-name.js';

const NAME_MESSAGE = 'must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter';

/** A valid name of a plan. */
export const planName = z.string().refine(isPlanName, NAME_MESSAGE);

/** The limits of a plan. */
export const PlanLimits = z.object(Limits.shape, { error: 'the body must be a JSON object' }).meta({
  id: 'PlanLimits',
  description: 'The limits of a plan. They apply to every quota on it without limits of its own.',
  examples: [{ perMinute: 120, perDay: 3_000 }],
});

export const Plan = z
  .object({
    name: plainText('Name of the plan.', PLAN_NAME_MAX_LENGTH),
    perMinute: shownLimit('Requests per UTC minute; null if each quota has its own limits.'),
    perDay: shownLimit('Requests per UTC day; null if each quota has its own limits.'),
  })
  .meta({ id: 'Plan', description: 'A plan and its limits.' });
export type Plan = z.infer<typeof Plan>;

export const PlanQuery = z.object({
  limit: limitParameter('Maximum number of plans returned.'),
  /** The page begins after this name. */
  cursor: cursorParameter((name) => (isPlanName(name) ? name : null)),
});
export type PlanQuery = z.infer<typeof PlanQuery>;
