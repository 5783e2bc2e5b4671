import { Inject, Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { Clock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { replayLimits, smallestPlans } from '../../usage/rules/what-if.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import { findKey } from '../keys/key.repository.js';
import { findPlanLimits } from '../keys/quota-plan.js';
import type { WhatIf, WhatIfQuery } from './what-if.schemas.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Tries limits on the recorded minutes of a quota. */
@Injectable()
export class WhatIfService {
  constructor(
    private readonly database: PrismaService,
    private readonly usage: UsageRepository,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'USAGE_MINUTES_KEPT'>,
  ) {}

  /**
   * Returns what the limits would have denied of the requests of all keys of a key's quota.
   *
   * @throws ApiError `not_found`; `invalid_request` if there is no such plan, or if it has no limits.
   */
  async replay(id: string, { plan, perMinute, perDay, days }: WhatIfQuery): Promise<WhatIf> {
    const { quotaId } = await findKey(this.database, id);
    const limits =
      perMinute !== undefined && perDay !== undefined
        ? { perMinute, perDay }
        : await findPlanLimits(this.database, plan ?? '');
    const nowMs = this.clock.now();
    const since = this.rangeStart(days, nowMs);
    const minutes = await this.usage.minutesOfQuota(quotaId, since);
    const { worstMinute, ...counts } = replayLimits(minutes, limits);
    const plans = await this.database.plan.findMany({ orderBy: { name: 'asc' } });
    const { denyingNone, denyingFew } = smallestPlans(
      minutes,
      plans.flatMap(({ name, ...own }) =>
        own.perMinute === null || own.perDay === null
          ? []
          : { name, perMinute: own.perMinute, perDay: own.perDay },
      ),
    );
    const [first] = minutes;
    return {
      plan: plan ?? null,
      ...limits,
      since: since.toISOString(),
      until: new Date(nowMs).toISOString(),
      firstMinute: first === undefined ? null : startOfMinute(first.minute),
      requests: minutes.reduce((sum, { requests }) => sum + requests, 0),
      refusals: minutes.reduce((sum, { refusals }) => sum + refusals, 0),
      ...counts,
      worstMinute: worstMinute && {
        startsAt: startOfMinute(worstMinute.minute),
        requests: worstMinute.requests,
        denied: worstMinute.denied,
      },
      smallestPlan: { denyingNone: denyingNone?.name ?? null, denyingFew: denyingFew?.name ?? null },
    };
  }

  /** Returns the start of the first of the UTC days, or of a later one whose minutes are all kept. */
  private rangeStart(days: number, nowMs: number): Date {
    const first = Math.floor(nowMs / DAY_MS) - days + 1;
    const firstKept = Math.ceil((nowMs - this.environment.USAGE_MINUTES_KEPT) / DAY_MS);
    return new Date(Math.max(first, firstKept) * DAY_MS);
  }
}

function startOfMinute(minute: number): string {
  return new Date(minute * MINUTE_MS).toISOString();
}
