import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, type Database } from '../database/access/in-transaction.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import type { Limits } from '../schemas/limits.schema.js';
import { isPlanName } from '../rate-limit/rules/plan-name.js';
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
    return toPage(plans.map(planView), limit);
  }

  /** @throws ApiError `not_found`. */
  async find(name: string): Promise<Plan> {
    const plan = isPlanName(name) ? await this.database.plan.findFirst({ where: { name } }) : null;
    if (plan === null) {
      throw new ApiError('not_found', `There is no plan "${name}".`);
    }
    return planView(plan);
  }

  /**
   * Sets the limits of a plan, and creates it if it does not exist. A limit that is undefined stays.
   *
   * @throws ApiError `invalid_request` if the name is not valid, or a new plan lacks a limit; `conflict` for
   *   a plan without limits, such as Enterprise, whose quotas have their own.
   */
  async set(name: string, input: SetPlanInput, actor: Actor): Promise<{ plan: Plan; created: boolean }> {
    if (!isPlanName(name)) {
      throw new ApiError('invalid_request', NAME_MESSAGE);
    }
    return inTransaction(this.database, async (transaction) => {
      // Serializes concurrent calls, even if the plan has no row to lock yet.
      await transaction.$executeRaw`LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE`;
      const old = await transaction.plan.findFirst({ where: { name } });
      if (old !== null && old.perMinute === null) {
        throw new ApiError(
          'conflict',
          `Plan "${name}" has no limits: each of its quotas has its own limits.`,
        );
      }
      const limits = {
        perMinute: requireLimit('perMinute', input.perMinute ?? old?.perMinute),
        perDay: requireLimit('perDay', input.perDay ?? old?.perDay),
      };
      await transaction.plan.upsert({ where: { name }, create: { name, ...limits }, update: limits });
      const before = old && { perMinute: old.perMinute, perDay: old.perDay };
      if (!isDeepStrictEqual(before, limits)) {
        const action = old === null ? 'plan.created' : 'plan.updated';
        await recordAuditEvent(transaction, actor, action, { id: name }, before, limits);
      }
      return { plan: planView({ name, ...limits }), created: old === null };
    });
  }
}

/** @throws ApiError `invalid_request` for a limit that neither the input nor the plan has. */
function requireLimit(name: keyof Limits, limit: number | null | undefined): number {
  if (limit === null || limit === undefined) {
    throw new ApiError('invalid_request', `The request is invalid: ${name} is required for a new plan.`);
  }
  return limit;
}

function planView({ name, perMinute, perDay }: Omit<Plan, 'warnings'>): Plan {
  return { name, perMinute, perDay, warnings: limitWarnings({ perMinute, perDay }) };
}
