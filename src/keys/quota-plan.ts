import type { Database } from '../database/in-transaction.js';
import { ApiError } from '../http/api-error.js';
import type { CreateKeyInput } from './key.schemas.js';
import { isPlanName } from '../rate-limit/rules/plan-name.js';

/**
 * Returns the columns of a quota on this plan.
 *
 * @throws ApiError `invalid_request` if there is no such plan, or if neither the plan nor the input has
 *   limits.
 */
export async function quotaColumns(
  database: Database,
  input: Pick<CreateKeyInput, 'plan' | 'perMinute' | 'perDay'>,
) {
  const { plan: name = '', perMinute = null, perDay = null } = input;
  const plan = isPlanName(name) ? await database.plan.findUnique({ where: { name } }) : null;
  if (plan === null) {
    throw new ApiError('invalid_request', await noSuchPlanMessage(database, name));
  }
  if (plan.perMinute === null && perMinute === null) {
    const message = `Plan "${name}" has no limits: give the key its own limits per minute and per day.`;
    throw new ApiError('invalid_request', message);
  }
  return { planName: name, perMinute, perDay };
}

async function noSuchPlanMessage(database: Database, name: string): Promise<string> {
  const plans = await database.plan.findMany({ orderBy: { name: 'asc' } });
  return plans.length === 0
    ? 'There are no plans yet: run "npx prisma db seed" first, or in a container "animal-store seed".'
    : `There is no plan "${name}"; the plans are ${plans.map((plan) => plan.name).join(', ')}.`;
}
