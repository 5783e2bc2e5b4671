import { z } from 'zod';
import { cursorParameter, limitParameter } from '../schemas/pagination.js';
import { plainText } from '../schemas/text-schemas.js';
import { shownLimit } from '../schemas/limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';

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
