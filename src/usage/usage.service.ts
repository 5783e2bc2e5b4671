import { Inject, Injectable } from '@nestjs/common';
import { PrismaService } from '../database/access/prisma.service.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { ApiError } from '../http/routes/api-error.js';
import { DeclaredRoutes } from '../http/routes/declared-routes.js';
import { uncountedOperations } from '../rate-limit/own-limit.decorator.js';
import { scopesForRole } from '../auth/rules/scope.js';
import { requireRecord } from '../auth/require-record.js';
import type { Page } from '../schemas/pagination.js';
import type { KeyRole } from '../auth/rules/role.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { replayLimits, smallestPlans } from './rules/what-if.js';
import { OPERATIONS_MAX, UsageRepository } from './usage.repository.js';
import type { KeyUsage, OperationUsage } from './usage.schemas.js';
import type { Limits } from '../schemas/limits.schema.js';
import {
  type KeyUsageOfAllQuery,
  type ScopeSuggestion,
  type ScopeSuggestionQuery,
  SUGGESTION_DAYS,
} from './admin-usage.schemas.js';
import type { WhatIf, WhatIfQuery } from './what-if.schemas.js';
import { DAY_MS } from '../process/time-units.js';

/** Lists the usage of keys and the scopes that it needed, and tries limits on it. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: PrismaService,
    private readonly repository: UsageRepository,
    private readonly routes: DeclaredRoutes,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'USAGE_MINUTE_RETENTION'>,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, newest first.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page(query: KeyUsageOfAllQuery, id?: string): Promise<Page<KeyUsage>> {
    const keyId = id === undefined ? undefined : (await this.findKey(id)).id;
    return this.repository.page({ ...query, keyId });
  }

  /**
   * Returns the scopes of a key's role, with the requests that needed them in a range, or in the last 30 UTC
   * days: those of the key, of keys that it succeeds, and of its successors.
   *
   * @throws ApiError `not_found`.
   */
  async suggestScopes(id: string, { since: given, until }: ScopeSuggestionQuery): Promise<ScopeSuggestion> {
    const { role } = await this.findKey(id);
    const since = given ?? (await this.firstDay(SUGGESTION_DAYS, until));
    const selection = { period: 'day', since, until, rotationOf: id } as const;
    const { entries: usage } = await this.repository.byOperation({ ...selection, limit: OPERATIONS_MAX });
    const scopeByOperation = new Map(this.routes.all.map((route) => [route.operation, route.scope]));
    const scopes = scopesForRole(role as KeyRole).map((scope) => {
      const entries = usage.filter(({ operation }) => scopeByOperation.get(operation) === scope);
      const sum = (count: (use: OperationUsage) => number) =>
        entries.reduce((all, use) => all + count(use), 0);
      return {
        scope,
        uses: sum(({ statuses }) => statuses['2xx'] + statuses['3xx']),
        clientErrors: sum(({ statuses, denied }) => statuses['4xx'] - denied),
        lastRequestAt:
          entries
            .map((use) => use.lastRequestAt)
            .toSorted()
            .at(-1) ?? null,
      };
    });
    return { since: since.toISOString(), until: until?.toISOString() ?? null, scopes };
  }

  /** @throws ApiError `not_found`. */
  private findKey(id: string) {
    const select = { id: true, role: true };
    return requireRecord('key', id, (where) => this.database.apiKey.findFirst({ where, select }));
  }

  /** Returns the start of the first of these UTC days. The last is today, or ends at `until`. */
  async firstDay(days: number, until?: Date): Promise<Date> {
    const lastMs = until === undefined ? await readServerTimeMs(this.database) : until.getTime() - 1;
    // Usage is never older, and PostgreSQL has no year 0.
    return new Date(Math.max(0, Math.floor(lastMs / DAY_MS) - days + 1) * DAY_MS);
  }

  /**
   * Returns what limits would have denied of the recorded requests of all keys of a quota.
   *
   * @throws ApiError `not_found`; `invalid_request` if neither the plan nor the query has both limits, or the
   *   minutes of the range are no longer kept.
   */
  async whatIf(quotaId: string, query: WhatIfQuery): Promise<WhatIf> {
    const select = { id: true };
    await requireRecord('quota', quotaId, (where) => this.database.quota.findFirst({ where, select }));
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
    const { until } = query;
    const nowMs = await readServerTimeMs(this.database);
    const keptMs = nowMs - this.environment.USAGE_MINUTE_RETENTION;
    const sinceMs = Math.min(Math.max(query.since?.getTime() ?? 0, keptMs), nowMs);
    // What the first day lacks would take nothing from its window.
    const since = new Date(Math.ceil(sinceMs / DAY_MS) * DAY_MS);
    if (until !== undefined && until <= since) {
      throw new ApiError(
        'invalid_request',
        `The request is invalid: until must be after ${since.toISOString()}, the start of the first whole ` +
          'UTC day of the range whose minutes are kept.',
      );
    }
    const uncounted = uncountedOperations(this.routes);
    const minutes = await this.repository.minutesOfQuota(quotaId, uncounted, since, until);
    return {
      perMinute,
      perDay,
      since: since.toISOString(),
      until: until?.toISOString() ?? null,
      ...replayLimits(minutes, { perMinute, perDay }),
      smallestPlans: smallestPlans(minutes, plans),
    };
  }
}
