import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, type Database } from '../database/access/in-transaction.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { ApiError } from '../http/routes/api-error.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import type { Limits } from '../schemas/limits.schema.js';
import { isPlanName } from '../rate-limit/rules/plan-name.js';
import { countValidKeysByPlan } from './key.repository.js';
import type { Plan, SetPlanInput } from './plan.schemas.js';
import { limitWarnings } from './warnings.js';

const NAME_MESSAGE =
  'The name of the plan must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter.';

/** Lists, creates and changes plans. Each change and its audit event are one transaction. */
@Injectable()
export class PlanService {
  constructor(@Inject(PrismaService) private readonly database: Database) {}

  /** Returns one page of the plans in order of their names, after the name `after`. */
  async page(limit: number, after?: string): Promise<Page<Plan>> {
    const plans = await this.database.plan.findMany({
      ...(after !== undefined && { where: { name: { gt: after } } }),
      orderBy: { name: 'asc' },
      take: limit + 1,
    });
    const counts = await countKeys(this.database, plans);
    return toPage(
      plans.map((plan) => toPlan(plan, counts)),
      limit,
    );
  }

  /** @throws ApiError `not_found`. */
  async find(name: string): Promise<Plan> {
    const plan = isPlanName(name) ? await this.database.plan.findFirst({ where: { name } }) : null;
    if (plan === null) {
      throw new ApiError('not_found', `There is no plan "${name}".`);
    }
    return toPlan(plan, await countKeys(this.database, [plan]));
  }

  /**
   * Sets a plan's limits and the longest life of its keys, and creates it if it does not exist. What is
   * undefined stays.
   *
   * @throws ApiError `invalid_request` if the name is not valid, or a new plan lacks a limit; `conflict` for
   *   limits of a plan without limits, such as Enterprise, whose quotas have their own.
   */
  async set(name: string, input: SetPlanInput, actor: Actor): Promise<{ plan: Plan; created: boolean }> {
    if (!isPlanName(name)) {
      throw new ApiError('invalid_request', NAME_MESSAGE);
    }
    return inTransaction(this.database, async (transaction) => {
      // Before the lock, because it may take long.
      const counts = await countKeys(transaction, [{ name }]);
      // Serializes concurrent calls, even if the plan has no row to lock yet.
      await transaction.$executeRaw`LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE`;
      const old = await transaction.plan.findFirst({ where: { name } });
      const { perMinute, perDay, maxKeyLifetimeDays = old?.maxKeyLifetimeDays ?? null } = input;
      const hasNoLimits = old !== null && old.perMinute === null;
      const isLimited = perMinute !== undefined || perDay !== undefined;
      if (hasNoLimits && (isLimited || input.maxKeyLifetimeDays === undefined)) {
        throw new ApiError(
          'conflict',
          `Plan "${name}" has no limits: each of its quotas has its own limits.`,
        );
      }
      const limits = hasNoLimits
        ? { perMinute: null, perDay: null }
        : {
            perMinute: requireLimit('perMinute', perMinute ?? old?.perMinute),
            perDay: requireLimit('perDay', perDay ?? old?.perDay),
          };
      const fields = { ...limits, maxKeyLifetimeDays };
      await transaction.plan.upsert({ where: { name }, create: { name, ...fields }, update: fields });
      const before = old && pickFields(old);
      if (!isDeepStrictEqual(before, fields)) {
        const action = old === null ? 'plan.created' : 'plan.updated';
        const isSame = (before?.maxKeyLifetimeDays ?? null) === maxKeyLifetimeDays;
        const shown = (values: PlanFields) => ({
          ...values,
          ...(isSame && { maxKeyLifetimeDays: undefined }),
        });
        await recordAuditEvent(
          transaction,
          actor,
          action,
          { id: name },
          before && shown(before),
          shown(fields),
        );
      }
      return { plan: toPlan({ name, ...fields }, counts), created: old === null };
    });
  }
}

async function countKeys(database: Database, plans: readonly { name: string }[]) {
  return countValidKeysByPlan(database, plans, await readServerTimeMs(database));
}

const toPlan = ({ name, ...plan }: NamedPlan, counts: ReadonlyMap<string, number>): Plan => ({
  name,
  ...pickFields(plan),
  validKeyCount: counts.get(name) ?? 0,
  warnings: limitWarnings(plan),
});

/** @throws ApiError `invalid_request` for a limit that neither the input nor the plan has. */
function requireLimit(name: keyof Limits, limit: number | null | undefined): number {
  if (limit === null || limit === undefined) {
    throw new ApiError('invalid_request', `The request is invalid: ${name} is required for a new plan.`);
  }
  return limit;
}

type PlanFields = Omit<Plan, 'name' | 'validKeyCount' | 'warnings'>;
type NamedPlan = PlanFields & { name: string };

const pickFields = ({ perMinute, perDay, maxKeyLifetimeDays }: PlanFields) => ({
  perMinute,
  perDay,
  maxKeyLifetimeDays,
});
