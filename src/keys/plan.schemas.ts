import { z } from 'zod';
import { cursorParameter, limitParameter } from '../schemas/pagination.js';
import { BODY_MESSAGE, plainText } from '../schemas/text-schemas.js';
import { int32 } from '../schemas/int32.js';
import { Limits, shownLimit } from '../schemas/limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { KEY_LIFETIME_MAX_DAYS } from './rules/key-lifetime.js';
import { keyWarnings } from './warnings.js';

export const Plan = z
  .object({
    name: plainText('Name of the plan.', PLAN_NAME_MAX_LENGTH),
    perMinute: shownLimit('Requests per UTC minute; null if each quota has its own limits.'),
    perDay: shownLimit('Requests per UTC day; null if each quota has its own limits.'),
    maxKeyLifetimeDays: shownLimit('The longest life of a new key on the plan, in days; null for any.'),
    validKeyCount: z.int32().min(0).meta({
      description: 'How many valid keys the quotas on it have. `GET /admin/keys?plan=` lists all their keys.',
    }),
    warnings: keyWarnings,
  })
  .meta({
    id: 'Plan',
    description: 'A plan with its limits, the longest life of its keys, and their number.',
  });
export type Plan = z.infer<typeof Plan>;

export const SetPlanInput = z
  .object(
    {
      perMinute: Limits.shape.perMinute.optional(),
      perDay: Limits.shape.perDay.optional(),
      maxKeyLifetimeDays: int32(
        'The longest life of a key that is issued on the plan, or rotated on it, in days; null for any. ' +
          'Existing keys keep theirs.',
        1,
        KEY_LIFETIME_MAX_DAYS,
      )
        .nullable()
        .optional(),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'PlanUpdate',
    description:
      'The settings of a plan. Its limits apply to every quota on it without own limits. What is left out ' +
      'stays; a new plan needs both limits.',
    examples: [{ perMinute: 120, perDay: 3_000 }],
  });
export type SetPlanInput = z.infer<typeof SetPlanInput>;

export const PlanQuery = z.object({
  limit: limitParameter('Maximum number of plans returned.'),
  cursor: cursorParameter((name) => (isPlanName(name) ? name : null)),
});
export type PlanQuery = z.infer<typeof PlanQuery>;
