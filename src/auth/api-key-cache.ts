import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../database/batches/batcher.js';
import type { Principal } from './principal.js';
import { knownNetworks } from '../http/rules/network.js';
import { storedHashes } from './rules/api-key.js';
import type { KeyRole } from './rules/role.js';
import type { Scope } from './rules/scope.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { Clock } from '../process/clock.js';
import { DatabaseClock } from '../database/access/database-clock.js';
import { ApiError } from '../http/routes/api-error.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { retryConflicts } from '../database/access/retry-conflicts.js';
import { loadSql, namedStatement } from '../database/access/statement.js';
import { ApiKeyChangeListener } from './api-key-change-listener.js';

export interface CachedApiKey {
  principal: Principal;
  revoked: boolean;
  suspended: boolean;
}

interface CacheEntry extends CachedApiKey {
  /** The listener's generation when the look-up started. */
  generation: number;
  /** By the monotonic clock. */
  expiresAtMs: number;
}

interface Row {
  /** In hexadecimal digits. */
  hash: string;
  id: string;
  role: KeyRole;
  scopes: Scope[] | null;
  allowedNetworks: string[] | null;
  expiresAtMs: number | null;
  revoked: boolean;
  suspended: boolean;
  isReplaceable: boolean;
  quotaId: string;
  plan: string;
  perMinute: number | null;
  perDay: number | null;
  nowMs: number;
}

const FIND = loadSql<Row>(import.meta.url, 'find-keys');
/** A successor that was replaced meanwhile, because it was never used, is left out. */
const RECORD_FIRST_USE = namedStatement<{ id: string }>(
  'record-first-use',
  `UPDATE api_keys SET first_used_at = statement_timestamp()
   WHERE id = ANY ($1::uuid[]) AND first_used_at IS NULL AND revoked_at IS NULL
   RETURNING id`,
);

/**
 * Bounds the effect of changes without a trigger: those made with `session_replication_role = replica`, or by
 * restoring a dump.
 */
const CACHE_LIFE_MS = 10_000;
const CACHE_SIZE = 10_000;
/** A hung connection then delays only its own look-ups. */
const MAX_IN_FLIGHT = 2;

/**
 * Finds keys by their hash. Known keys are cached until `ApiKeyChangeListener` receives a change; unknown
 * ones are not, so they cannot crowd the cache. Concurrent look-ups are one query.
 */
@Injectable()
export class ApiKeyCache implements MetricsSource {
  /** An outdated entry still serves `lastKnown`. */
  private readonly cache = new LRUCache<string, CacheEntry>({ max: CACHE_SIZE });
  private readonly batcher = new Batcher((hashes: Buffer[]) => this.findAll(hashes), {
    name: FIND.name,
    maxInFlight: () => MAX_IN_FLIGHT,
  });
  private readonly firstUses = new Batcher((ids: string[]) => this.recordFirstUse(ids), {
    name: RECORD_FIRST_USE.name,
  });
  hits = 0;
  misses = 0;

  constructor(
    private readonly prisma: PrismaService,
    private readonly listener: ApiKeyChangeListener,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
  ) {}

  addMetrics(metrics: MetricsRegistry): void {
    const { listener } = this;
    metrics.addBatches(this.batcher.metrics, this.firstUses.metrics);
    metrics.counter('api_key_cache_lookups_total', 'Look-ups of API keys.', ['result'], () => [
      [this.hits, 'hit'],
      [this.misses, 'miss'],
    ]);
    metrics.counter('api_key_cache_invalidations_total', 'Invalidations of all cached keys.', [], () => [
      [listener.generation],
    ]);
    metrics.gauge('api_key_cache_age_seconds', 'Time since the cache was last confirmed current.', [], () => [
      [listener.ageMs / 1000],
    ]);
    metrics.gauge('api_key_cache_current', '1 while cached keys are used, else 0.', [], () => [
      [Number(listener.isCurrent)],
    ]);
  }

  /**
   * Returns the key of this SHA-256, or null if there is none; no promise if it is cached.
   *
   * @throws the database's error; ApiError `service_unavailable` if its quota has no limits.
   */
  find(hash: Buffer): CachedApiKey | Promise<CachedApiKey | null> {
    const id = hash.toString('latin1');
    const cached = this.cache.get(id);
    const { generation, currentUntilMs } = this.listener;
    if (
      cached?.generation === generation &&
      performance.now() < Math.min(currentUntilMs, cached.expiresAtMs)
    ) {
      this.hits += 1;
      return cached;
    }
    this.misses += 1;
    return this.lookUp(hash, id);
  }

  /** By the SHA-256 of a key, however outdated: only to report limits, never to authenticate. */
  lastKnown(hash: Buffer): CachedApiKey | null {
    return this.cache.peek(hash.toString('latin1')) ?? null;
  }

  private async lookUp(hash: Buffer, id: string): Promise<CachedApiKey | null> {
    // Read before the query, because a change during it makes its result outdated.
    const expiresAtMs = performance.now() + CACHE_LIFE_MS;
    const { generation } = this.listener;
    let row = await this.batcher.load(hash);
    // If the first use cannot be recorded, as in a read-only database, usage tells it within a second.
    if (row?.isReplaceable === true && !(await this.firstUses.load(row.id).catch(() => true))) {
      row = await this.batcher.load(hash);
    }
    if (row === null) {
      return null;
    }
    // If its limits are unknown now, those that it had are not reported.
    this.cache.delete(id);
    const entry = { ...knownKey(row), generation, expiresAtMs };
    this.cache.set(id, entry);
    return entry;
  }

  private async findAll(hashes: Buffer[]): Promise<(Row | null)[]> {
    const sentMs = this.clock.monotonicMs();
    const rows = await this.prisma.sql.query(FIND, hashes.flatMap(storedHashes));
    const [first] = rows;
    if (first !== undefined) {
      this.databaseClock.observe(first.nowMs, sentMs);
    }
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash.toString('hex')) ?? null);
  }

  /**
   * Records the first use of each successor, and returns whether it was the first: not if it was used before,
   * or is replaced meanwhile.
   */
  private async recordFirstUse(ids: string[]): Promise<boolean[]> {
    // After a deadlock, a successor that was not recorded could still be replaced.
    const rows = await retryConflicts(() => this.prisma.sql.query(RECORD_FIRST_USE, ids));
    const recorded = new Set(rows.map(({ id }) => id));
    return ids.map((id) => recorded.has(id));
  }
}

function knownKey(row: Row): CachedApiKey {
  const { role, scopes, expiresAtMs, revoked, suspended, quotaId: id, plan, perMinute, perDay } = row;
  if (perMinute === null || perDay === null) {
    // Direct SQL removed them, or a newer release has limits of another kind.
    const cause = new Error(`Quota ${id} is on plan ${plan} but has no own limits`);
    throw new ApiError('service_unavailable', 'The limits of the API key are unknown. Try again later.', {
      cause,
    });
  }
  return {
    principal: {
      keyId: row.id,
      role,
      scopes,
      allowedNetworks: row.allowedNetworks && knownNetworks(row.allowedNetworks),
      expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs),
      quota: { id, plan, perMinute, perDay },
    },
    revoked,
    suspended,
  };
}
