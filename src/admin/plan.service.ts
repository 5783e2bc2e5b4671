import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, type Database } from '../database/in-transaction.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../errors/api-error.js';
import { type Actor, writeDown } from './audit.js';
import type { Limits } from './limits.schema.js';
import { isPlanName } from '../rate-limit/rules/plan-name.js';
import { type Plan, planName } from './plan.schemas.js';

/** Shows and sets plans. Each deed and its line in the audit are one transaction. */
@Injectable()
export class PlanService {
  constructor(@Inject(PrismaService) private readonly database: Database) {}

  /** The same service, within a transaction that somebody else ends. */
  within(transaction: Prisma.TransactionClient): PlanService {
    return new PlanService(transaction);
  }

  /** One page of the plans by name, after the one called `after`, and whether more follow. */
  async page(limit: number, after?: string): Promise<{ plans: Plan[]; more: boolean }> {
    const plans = await this.database.plan.findMany({
      ...(after !== undefined && { where: { name: { gt: after } } }),
      orderBy: { name: 'asc' },
      take: limit + 1,
    });
    return { plans: plans.slice(0, limit), more: plans.length > limit };
  }

  /** @throws ApiError `not_found`. */
  async find(name: string): Promise<Plan> {
    const plan = isPlanName(name) ? await this.database.plan.findUnique({ where: { name } }) : null;
    if (plan === null) {
      throw new ApiError('not_found', `There is no plan "${name}".`);
    }
    return plan;
  }

  /**
   * Gives a plan its numbers, and makes it where there is none of this name.
   *
   * @throws ApiError `invalid_request` when no plan can have this name; `conflict` for a plan whose quotas have their
   *   own numbers, as Enterprise.
   */
  async set(name: string, limits: Limits, actor: Actor): Promise<{ plan: Plan; created: boolean }> {
    refuseName(name);
    return inTransaction(this.database, async (transaction) => {
      // Two who set the same plan take turns, also where there is none to lock yet.
      await transaction.$executeRaw`LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE`;
      const old = await transaction.plan.findUnique({ where: { name } });
      if (old !== null && old.perMinute === null) {
        throw new ApiError(
          'conflict',
          `Plan "${name}" has no numbers of its own; give each of its keys theirs.`,
        );
      }
      const plan = await transaction.plan.upsert({
        where: { name },
        create: { name, ...limits },
        update: { ...limits },
      });
      const before = old === null ? null : { perMinute: old.perMinute, perDay: old.perDay };
      if (before?.perMinute !== plan.perMinute || before.perDay !== plan.perDay) {
        const action = old === null ? 'plan.created' : 'plan.changed';
        const after = { perMinute: plan.perMinute, perDay: plan.perDay };
        await writeDown(transaction, { actor, action, subject: `plan:${name}`, before, after });
      }
      return { plan, created: old === null };
    });
  }
}

function refuseName(name: string): void {
  const fault = planName.safeParse(name).error?.issues[0]?.message;
  if (fault !== undefined) {
    throw new ApiError('invalid_request', `The name of the plan ${fault}.`);
  }
}
