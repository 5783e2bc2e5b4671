import { Inject, Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../http/api-error.js';
import { declaredRouteConfigs } from '../http/route-config.decorator.js';
import { scopesForRole } from '../auth/rules/scope.js';
import { requireKey } from '../auth/require-key.js';
import type { Page } from '../schemas/pagination.js';
import type { KeyRole } from '../http/request-line.js';
import { Clock } from '../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { replayLimits, smallestPlans } from './rules/what-if.js';
import { UsageRepository } from './usage.repository.js';
import type { OperationUsage, Usage } from './usage.schemas.js';
import type { Limits } from '../schemas/limits.schema.js';
import type { ScopeSuggestion, UsageQuery } from './admin-usage.schemas.js';
import type { WhatIf, WhatIfQuery } from './what-if.schemas.js';

const DAY_MS = 86_400_000;

/** Lists the usage of keys and the scopes that it needed, and tries limits on it. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: PrismaService,
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'USAGE_MINUTE_RETENTION'>,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, newest first.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page({ days, cursor, ...query }: UsageQuery, id?: string): Promise<Page<Usage>> {
    const keyId = id === undefined ? undefined : (await this.findKey(id)).id;
    return this.repository.page({ ...query, after: cursor, since: this.firstDay(days), keyId });
  }

  /**
   * Returns the scopes of a key's role, with the requests that needed them in these UTC days, today included:
   * those of the key, of keys that it succeeds, and of its successors.
   *
   * @throws ApiError `not_found`.
   */
  async suggestScopes(id: string, days: number): Promise<ScopeSuggestion> {
    const { role } = await this.findKey(id);
    const since = this.firstDay(days);
    const usage = await this.repository.byOperation({ period: 'day', since, rotationOf: id });
    const scopeByOperation = new Map(declaredRouteConfigs().map((route) => [route.operation, route.scope]));
    const scopes = scopesForRole(role as KeyRole).map((scope) => {
      const uses = usage.filter(({ operation }) => scopeByOperation.get(operation) === scope);
      const sum = (count: (use: OperationUsage) => number) => uses.reduce((all, use) => all + count(use), 0);
      return {
        scope,
        requests: sum(({ statuses }) => statuses['2xx'] + statuses['3xx']),
        clientErrors: sum(({ statuses, refusals }) => statuses['4xx'] - refusals),
        lastAt:
          uses
            .map((use) => use.lastAt)
            .toSorted()
            .at(-1) ?? null,
      };
    });
    return { since: since.toISOString(), scopes };
  }

  /** @throws ApiError `not_found`. */
  private findKey(id: string) {
    const select = { id: true, quotaId: true, role: true };
    return requireKey(id, (where) => this.database.apiKey.findUnique({ where, select }));
  }

  /** Returns the start of the first of these UTC days, of which the last is today. */
  private firstDay(days: number): Date {
    return new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
  }

  /**
   * Returns what limits would have denied of the recorded requests of all keys of a key's quota.
   *
   * @throws ApiError `not_found`; `invalid_request` if neither the plan nor the query has both limits.
   */
  async whatIf(id: string, query: WhatIfQuery): Promise<WhatIf> {
    const { quotaId } = await this.findKey(id);
    const plans = await this.database.$queryRaw<(Limits & { name: string })[]>`
      SELECT name, per_minute AS "perMinute", per_day AS "perDay" FROM plans
      WHERE per_day IS NOT NULL ORDER BY per_day, per_minute, name`;
    const { perMinute, perDay } = { ...plans.find(({ name }) => name === query.plan), ...query };
    if (perMinute === undefined || perDay === undefined) {
      const names = plans.map(({ name }) => name).join(', ');
      throw new ApiError(
        'invalid_request',
        `The request is invalid: give a plan with limits (${names}), or those per minute and per day.`,
      );
    }
    const firstKeptDay = Math.ceil((this.clock.now() - this.environment.USAGE_MINUTE_RETENTION) / DAY_MS);
    const since = new Date(firstKeptDay * DAY_MS);
    const minutes = await this.repository.minutesOfQuota(quotaId, since);
    return {
      perMinute,
      perDay,
      since: since.toISOString(),
      ...replayLimits(minutes, { perMinute, perDay }),
      smallestPlan: smallestPlans(minutes, plans),
    };
  }
}
