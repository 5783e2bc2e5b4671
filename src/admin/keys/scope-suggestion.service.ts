import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { declaredRouteConfigs } from '../../http/route-config.decorator.js';
import { scopesForRole } from '../../http/rules/scope.js';
import { Clock } from '../../settings/clock.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import { findKey } from './key.repository.js';
import type { ScopeSuggestion } from './scope-suggestion.schemas.js';

const DAY_MS = 86_400_000;

/** Suggests the scopes of a key from its usage. */
@Injectable()
export class ScopeSuggestionService {
  constructor(
    private readonly database: PrismaService,
    private readonly usage: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the scopes of a key's role, with the successful requests of all keys of its quota in these UTC days, today included.
   *
   * @throws ApiError `not_found`.
   */
  async suggest(id: string, days: number): Promise<ScopeSuggestion> {
    const { quotaId, role } = await findKey(this.database, id);
    const since = new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
    const usage = await this.usage.byOperation({ period: 'day', since, quotaId });
    const scopeOf = new Map(declaredRouteConfigs().map(({ operation, scope }) => [operation, scope]));
    const scopes = scopesForRole(role).map((scope) => {
      const ofScope = usage.filter(({ operation }) => scopeOf.get(operation) === scope);
      // Denied attempts are client errors.
      const used = ofScope.filter(({ statuses }) => statuses['2xx'] + statuses['3xx'] > 0);
      return {
        scope,
        requests: used.reduce((sum, { statuses }) => sum + statuses['2xx'] + statuses['3xx'], 0),
        lastAt:
          used
            .map(({ lastAt }) => lastAt)
            .toSorted()
            .at(-1) ?? null,
      };
    });
    return { since: since.toISOString(), scopes };
  }
}
