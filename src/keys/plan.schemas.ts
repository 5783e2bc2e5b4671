import { z } from 'zod';
import { cursorParameter, limitParameter } from '../schemas/pagination.js';
import { BODY_MESSAGE, plainText } from '../schemas/text-schemas.js';
import { Limits, shownLimit } from '../schemas/limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { keyWarnings } from './warnings.js';

export const Plan = z
  .object({
    name: plainText('Name of the plan.', PLAN_NAME_MAX_LENGTH),
    perMinute: shownLimit('Requests per UTC minute; null if each quota has its own limits.'),
    perDay: shownLimit('Requests per UTC day; null if each quota has its own limits.'),
    warnings: keyWarnings,
  })
  .meta({ id: 'Plan', description: 'A plan and its limits.' });
export type Plan = z.infer<typeof Plan>;

export const SetPlanInput = z
  .object(
    { perMinute: Limits.shape.perMinute.optional(), perDay: Limits.shape.perDay.optional() },
    BODY_MESSAGE,
  )
  .meta({
    id: 'PlanUpdate',
    description:
      'The limits of a plan. They apply to every quota on it without own limits. What is left out stays; a ' +
      'new plan needs both.',
    examples: [{ perMinute: 120, perDay: 3_000 }],
  });
export type SetPlanInput = z.infer<typeof SetPlanInput>;

export const PlanQuery = z.object({
  limit: limitParameter('Maximum number of plans returned.'),
  cursor: cursorParameter((name) => (isPlanName(name) ? name : null)),
});
export type PlanQuery = z.infer<typeof PlanQuery>;
