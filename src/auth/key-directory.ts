import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../batcher.js';
import type { Client, KeyRole } from '../client.js';
import { PrismaService } from '../database/prisma.service.js';
import { KeyWatch } from './key-watch.js';

/** A key as it is stored, with the numbers in force for its quota. */
export interface KnownKey {
  client: Client;
  /** For good, and from now on, whatever clock the time of it was taken from. */
  revoked: boolean;
}

/** What a look-up found, and the generation of `KeyWatch` in which it was asked for. */
interface Remembered {
  key: KnownKey;
  generation: number;
}

interface Row {
  hash: Uint8Array;
  id: string;
  role: KeyRole;
  expires_at: Date | null;
  revoked: boolean;
  quota_id: string;
  plan: string;
  per_minute: number | null;
  per_day: number | null;
}

/**
 * A bound for changes that no trigger tells of, as those made with `session_replication_role = replica` or by restoring
 * a dump. Ordinary changes are forgotten as soon as they are told.
 */
const CACHE_LIFE_MS = 10_000;
const CACHE_SIZE = 10_000;

/**
 * The keys by hash. Known keys are remembered while `KeyWatch` hears of no change, in a bounded cache; unknown
 * ones never, so that they cannot crowd it. Look-ups that arrive together go as one question.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache = new LRUCache<string, Remembered>({
    max: CACHE_SIZE,
    ttl: CACHE_LIFE_MS,
    // What is too old to authenticate by still tells whose numbers a refusal shows.
    noDeleteOnStaleGet: true,
  });
  private readonly batcher = new Batcher((hashes: Buffer[]) => this.findAll(hashes));

  constructor(
    private readonly prisma: PrismaService,
    private readonly watch: KeyWatch,
  ) {}

  /**
   * @returns the key of this SHA-256, or null when there is none.
   * @throws Prisma's error when the database is away, or an error that names a quota which has no numbers.
   */
  async find(hash: Buffer): Promise<KnownKey | null> {
    const id = hash.toString('latin1');
    const cached = this.cache.get(id);
    if (cached !== undefined && this.watch.holds(cached.generation)) {
      return cached.key;
    }
    // An answer is as old as its question: what changes while it is under way makes it one that no longer holds.
    const start = performance.now();
    const { generation } = this.watch;
    const row = await this.batcher.ask(hash);
    if (row === null) {
      return null;
    }
    const key = knownKey(row);
    this.cache.set(id, { key, generation }, { start });
    return key;
  }

  /** The client of this SHA-256 as it was last known, however long ago. Only to tell its numbers: nobody gets in by it. */
  lastKnown(hash: Buffer): Client | null {
    return this.cache.peek(hash.toString('latin1'), { allowStale: true })?.key.client ?? null;
  }

  private async findAll(hashes: Buffer[]): Promise<(Row | null)[]> {
    const rows = await this.prisma.$queryRaw<Row[]>`
      SELECT
        k.hash, k.id, k.role::text, k.expires_at, k.revoked_at IS NOT NULL AS revoked, k.quota_id, q.plan,
        coalesce(q.per_minute, p.per_minute) AS per_minute,
        coalesce(q.per_day, p.per_day) AS per_day
      FROM api_keys k
      JOIN quotas q ON q.id = k.quota_id
      JOIN plans p ON p.name = q.plan
      WHERE k.hash = ANY (${hashes}::bytea[])`;
    const byHash = new Map(rows.map((row) => [Buffer.from(row.hash).toString('latin1'), row]));
    return hashes.map((hash) => byHash.get(hash.toString('latin1')) ?? null);
  }
}

function knownKey(row: Row): KnownKey {
  if (row.per_minute === null || row.per_day === null) {
    throw new Error(`Quota ${row.quota_id} is on plan ${row.plan} but has no numbers of its own`);
  }
  return {
    client: {
      keyId: row.id,
      role: row.role,
      expiresAt: row.expires_at,
      quota: { id: row.quota_id, plan: row.plan, perMinute: row.per_minute, perDay: row.per_day },
    },
    revoked: row.revoked,
  };
}
