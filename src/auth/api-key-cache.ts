import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../batcher.js';
import type { Principal, KeyRole } from '../principal.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { quotaBucketKey } from '../rate-limit/bucket-key.js';
import { ApiKeyChangeListener } from './api-key-change-listener.js';

/** A key as it is stored, with the numbers in force for its quota. */
export interface CachedApiKey {
  client: Principal;
  /** For good, and from now on, whatever clock the time of it was taken from. */
  revoked: boolean;
}

/** What a look-up found, and when it was asked for: the generation of `KeyWatch`, and the time by the monotonic clock. */
interface Remembered {
  key: CachedApiKey;
  generation: number;
  askedMs: number;
}

type Row = [
  hash: Buffer,
  id: string,
  role: KeyRole,
  expiresAt: Date | null,
  revoked: boolean,
  quotaId: string,
  plan: string,
  perMinute: number | null,
  perDay: number | null,
];

const FIND = loadSql(import.meta.url, 'find-keys');

/**
 * A bound for changes that no trigger tells of, as those made with `session_replication_role = replica` or by restoring
 * a dump. Ordinary changes are forgotten as soon as they are told.
 */
const CACHE_LIFE_MS = 10_000;
const CACHE_SIZE = 10_000;
/** So that one connection that hangs holds up only who asked by it. */
const QUESTIONS_UNDER_WAY = 2;

/**
 * The keys by hash. Known keys are remembered while `KeyWatch` hears of no change, in a bounded cache; unknown
 * ones never, so that they cannot crowd it. Look-ups that arrive together go as one question.
 */
@Injectable()
export class ApiKeyCache {
  /** What is too old to authenticate by still tells whose numbers a refusal shows. */
  private readonly cache = new LRUCache<string, Remembered>({ max: CACHE_SIZE });
  private readonly batcher = new Batcher((hashes: Buffer[]) => this.findAll(hashes), {
    name: FIND.name,
    maxInFlight: QUESTIONS_UNDER_WAY,
  });
  /** The look-ups. */
  readonly questions = this.batcher.metrics;
  /** Keys that were asked for and remembered. */
  hits = 0;
  /** Keys that had to be looked up. */
  misses = 0;

  constructor(
    private readonly statements: QueryRunner,
    private readonly watch: ApiKeyChangeListener,
  ) {}

  /**
   * @returns the key of this SHA-256, or null when there is none; without a wait when it is remembered.
   * @throws the database's error, or an error that names a quota which has no numbers.
   */
  find(hash: Buffer): CachedApiKey | Promise<CachedApiKey | null> {
    const id = hash.toString('latin1');
    const cached = this.cache.get(id);
    if (cached !== undefined && this.holds(cached)) {
      this.hits += 1;
      return cached.key;
    }
    this.misses += 1;
    return this.lookUp(hash, id);
  }

  /** The client of this SHA-256 as it was last known, however long ago. Only to tell its numbers: nobody gets in by it. */
  lastKnown(hash: Buffer): Principal | null {
    return this.cache.peek(hash.toString('latin1'))?.key.client ?? null;
  }

  private holds({ generation, askedMs }: Remembered): boolean {
    return this.watch.holds(generation) && performance.now() - askedMs < CACHE_LIFE_MS;
  }

  private async lookUp(hash: Buffer, id: string): Promise<CachedApiKey | null> {
    // An answer is as old as its question: what changes while it is under way makes it one that no longer holds.
    const askedMs = performance.now();
    const { generation } = this.watch;
    const row = await this.batcher.load(hash);
    if (row === null) {
      return null;
    }
    const key = knownKey(row);
    this.cache.set(id, { key, generation, askedMs });
    return key;
  }

  private async findAll(hashes: Buffer[]): Promise<(Row | null)[]> {
    const rows = await this.statements.run<Row>(FIND, [hashes]);
    const byHash = new Map(rows.map((row) => [row[0].toString('latin1'), row]));
    return hashes.map((hash) => byHash.get(hash.toString('latin1')) ?? null);
  }
}

function knownKey([, keyId, role, expiresAt, revoked, id, plan, perMinute, perDay]: Row): CachedApiKey {
  if (perMinute === null || perDay === null) {
    throw new Error(`Quota ${id} is on plan ${plan} but has no numbers of its own`);
  }
  return {
    client: { keyId, role, expiresAt, quota: { id, bucketKey: quotaBucketKey(id), plan, perMinute, perDay } },
    revoked,
  };
}
