import { requireRecord } from '../auth/require-record.js';
import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/access/in-transaction.js';
import { ApiError } from '../http/routes/api-error.js';
import { isPlanName } from '../rate-limit/rules/plan-name.js';
import { missingLimit } from '../schemas/limits.schema.js';
import { isUuid } from '../schemas/uuid.js';
import { QUOTA, type QuotaRecord } from './quota.view.js';

/** @throws ApiError `not_found`. */
export function findQuota(database: Database, id: string): Promise<QuotaRecord> {
  return requireRecord('quota', id, (where) => database.quota.findFirst({ where, ...QUOTA }));
}

/**
 * Locks a quota, so that concurrent changes of it and of its keys are serialized. Returns its id, or null if
 * there is no such quota.
 */
export async function lockQuotaId(transaction: Prisma.TransactionClient, id: string) {
  const quotas = isUuid(id)
    ? await transaction.$queryRaw<{ id: string }[]>`
        SELECT id FROM quotas WHERE id = ${id}::uuid FOR NO KEY UPDATE`
    : [];
  return quotas[0]?.id ?? null;
}

/**
 * Returns the quota after locking it.
 *
 * @throws ApiError `not_found`.
 */
export async function lockQuota(transaction: Prisma.TransactionClient, id: string): Promise<QuotaRecord> {
  await lockQuotaId(transaction, id);
  return findQuota(transaction, id);
}

interface QuotaInput {
  externalId?: string | null | undefined;
  plan?: string | undefined;
  perMinute?: number | null | undefined;
  perDay?: number | null | undefined;
}

/**
 * Returns the columns of a quota with these values.
 *
 * @throws ApiError `invalid_request` if there is no such plan, if neither the plan nor the input has limits,
 *   or if the input has one limit alone.
 */
export async function quotaColumns(database: Database, input: QuotaInput) {
  const { plan: name = '', perMinute = null, perDay = null, externalId = null } = input;
  const missing = missingLimit({ perMinute, perDay });
  if (missing !== null) {
    const message = `The request is invalid: ${missing} is required: a quota has both own limits or neither.`;
    throw new ApiError('invalid_request', message);
  }
  const plan = isPlanName(name) ? await database.plan.findFirst({ where: { name } }) : null;
  if (plan === null) {
    throw new ApiError('invalid_request', await noSuchPlanMessage(database, name));
  }
  if (plan.perMinute === null && perMinute === null) {
    const message = `Plan "${name}" has no limits: give the quota its own limits per minute and per day.`;
    throw new ApiError('invalid_request', message);
  }
  return { planName: name, perMinute, perDay, externalId };
}

async function noSuchPlanMessage(database: Database, name: string): Promise<string> {
  const plans = await database.plan.findMany({ orderBy: { name: 'asc' } });
  return plans.length === 0
    ? 'There are no plans yet: run "npx prisma db seed" first, or in a container "animal-store seed".'
    : `There is no plan "${name}"; the plans are ${plans.map((plan) => plan.name).join(', ')}.`;
}
