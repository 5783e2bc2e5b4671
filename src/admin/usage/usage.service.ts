import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { declaredRouteConfigs } from '../../http/route-config.decorator.js';
import { scopesForRole } from '../../http/rules/scope.js';
import { Clock } from '../../settings/clock.js';
import type { Page } from '../../schemas/pagination.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import type { Usage } from '../../usage/usage.schemas.js';
import { findKey } from '../keys/key.repository.js';
import type { ScopeSuggestion, UsageQuery } from './usage.schemas.js';

const DAY_MS = 86_400_000;

/** Lists the usage of keys, and the scopes that it needed. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: PrismaService,
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, newest first.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page({ days, cursor, ...query }: UsageQuery, id?: string): Promise<Page<Usage>> {
    const keyId = id === undefined ? undefined : (await findKey(this.database, id)).id;
    return this.repository.page({ ...query, after: cursor, since: this.firstDay(days), keyId });
  }

  /**
   * Returns the scopes of a key's role, with the successful requests of all keys of its quota in these UTC days, today included.
   *
   * @throws ApiError `not_found`.
   */
  async suggestScopes(id: string, days: number): Promise<ScopeSuggestion> {
    const { quotaId, role } = await findKey(this.database, id);
    const since = this.firstDay(days);
    const usage = await this.repository.byOperation({ period: 'day', since, quotaId });
    // Denied attempts are client errors.
    const successes = usage
      .map(({ statuses, ...use }) => ({ ...use, requests: statuses['2xx'] + statuses['3xx'] }))
      .filter(({ requests }) => requests > 0);
    const scopeByOperation = new Map(declaredRouteConfigs().map((route) => [route.operation, route.scope]));
    const scopes = scopesForRole(role).map((scope) => {
      const uses = successes.filter(({ operation }) => scopeByOperation.get(operation) === scope);
      const requests = uses.reduce((sum, use) => sum + use.requests, 0);
      const times = uses.map(({ lastAt }) => lastAt).toSorted();
      return { scope, requests, lastAt: times.at(-1) ?? null };
    });
    return { since: since.toISOString(), scopes };
  }

  /** Returns the start of the first of these UTC days, of which the last is today. */
  private firstDay(days: number): Date {
    return new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
  }
}
