import { Inject, Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { ApiError } from '../../errors/api-error.js';
import { Clock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { countDays, countRequests, replayLimits, smallestPlans } from '../../usage/rules/what-if.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import { findKey } from '../keys/key.repository.js';
import type { Limits } from '../plans/limits.schema.js';
import type { WhatIf, WhatIfQuery } from './what-if.schemas.js';

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
   * @throws ApiError `not_found`; `invalid_request` unless the query has either a plan with limits or two limits.
   */
  async replay(id: string, query: WhatIfQuery): Promise<WhatIf> {
    const { quotaId } = await findKey(this.database, id);
    const plans = (await this.database.plan.findMany({ orderBy: { name: 'asc' } })).flatMap(
      ({ name, perMinute, perDay }) =>
        perMinute === null || perDay === null ? [] : { name, perMinute, perDay },
    );
    const { perMinute, perDay } = triedLimits(query, plans);
    const since = this.rangeStart(query.days);
    const minutes = await this.usage.minutesOfQuota(quotaId, since);
    const { denyingNone, denyingFew } = smallestPlans(minutes, plans);
    return {
      perMinute,
      perDay,
      since: since.toISOString(),
      recordedDays: countDays(minutes),
      requests: countRequests(minutes),
      refusals: minutes.reduce((sum, { refusals }) => sum + refusals, 0),
      ...replayLimits(minutes, { perMinute, perDay }),
      smallestPlan: { denyingNone: denyingNone?.name ?? null, denyingFew: denyingFew?.name ?? null },
    };
  }

  /** Returns the start of the first of the UTC days, or of a later one whose minutes are all kept. */
  private rangeStart(days: number): Date {
    const nowMs = this.clock.now();
    const first = Math.floor(nowMs / DAY_MS) - days + 1;
    const firstKept = Math.ceil((nowMs - this.environment.USAGE_MINUTES_KEPT) / DAY_MS);
    return new Date(Math.max(first, firstKept) * DAY_MS);
  }
}

function triedLimits(
  { plan, perMinute, perDay }: WhatIfQuery,
  plans: readonly (Limits & { name: string })[],
): Limits {
  const named = plans.find(({ name }) => name === plan);
  if (named !== undefined && perMinute === undefined && perDay === undefined) {
    return named;
  }
  if (plan === undefined && perMinute !== undefined && perDay !== undefined) {
    return { perMinute, perDay };
  }
  const names = plans.map(({ name }) => name).join(', ');
  const message = `The request is invalid: give either a plan with limits (${names}), or those per minute and per day.`;
  throw new ApiError('invalid_request', message);
}
