import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { OperationScopes } from '../../http/operation-scopes.js';
import { type Scope, scopesForRole } from '../../http/rules/scope.js';
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
    private readonly scopes: OperationScopes,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the scopes that a key and those before and after it used in these UTC days, today included, and those that its role has besides.
   *
   * @throws ApiError `not_found`.
   */
  async suggest(id: string, days: number): Promise<ScopeSuggestion> {
    const { quotaId, role } = await findKey(this.database, id);
    const since = new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
    const operations = await this.usage.byOperation({ period: 'day', since, quotaId });
    const used = new Map<Scope, { requests: number; lastAt: string }>();
    for (const { operation, requests, lastAt } of operations) {
      const scope = this.scopes.find(operation);
      if (scope !== undefined) {
        const others = used.get(scope);
        used.set(scope, {
          requests: requests + (others?.requests ?? 0),
          lastAt: others !== undefined && others.lastAt > lastAt ? others.lastAt : lastAt,
        });
      }
    }
    const all = scopesForRole(role);
    return {
      since: since.toISOString(),
      used: all.flatMap((scope) => (used.has(scope) ? [{ scope, ...used.get(scope)! }] : [])),
      unused: all.filter((scope) => !used.has(scope)),
    };
  }
}
