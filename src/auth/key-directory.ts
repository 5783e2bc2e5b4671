import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../batcher.js';
import type { Client, KeyRole } from '../client.js';
import { PrismaService } from '../database/prisma.service.js';

/** A key as it is stored, with the numbers in force for its quota. */
export interface KnownKey {
  client: Client;
  revokedAt: Date | null;
}

interface Row {
  hash: Uint8Array;
  id: string;
  role: KeyRole;
  expires_at: Date | null;
  revoked_at: Date | null;
  quota_id: string;
  plan: string;
  per_minute: number | null;
  per_day: number | null;
}

/** A change of a key, quota or plan must hold within a second; the rest of it is for the question itself. */
const CACHE_LIFE_MS = 500;
const CACHE_SIZE = 10_000;

/**
 * The keys by hash. Known keys are remembered for half a second, in a bounded cache; unknown ones never, so
 * that they cannot crowd it. Look-ups that arrive together go as one question.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache = new LRUCache<string, KnownKey>({ max: CACHE_SIZE, ttl: CACHE_LIFE_MS });
  private readonly batcher = new Batcher((hashes: Buffer[]) => this.findAll(hashes));

  constructor(private readonly prisma: PrismaService) {}

  /**
   * @returns the key of this SHA-256, or null when there is none.
   * @throws Prisma's error when the database is away, or an error that names a quota which has no numbers.
   */
  async find(hash: Buffer): Promise<KnownKey | null> {
    const id = hash.toString('latin1');
    const cached = this.cache.get(id);
    if (cached !== undefined) {
      return cached;
    }
    // The life of an answer begins with the question: what changes while it is under way must not hide longer.
    const start = performance.now();
    const row = await this.batcher.ask(hash);
    if (row === null) {
      return null;
    }
    const found = knownKey(row);
    this.cache.set(id, found, { start });
    return found;
  }

  /** `-infinity` is long ago and the year 10000 is never, as a `Date` knows no infinity and an HTTP date no fifth digit. */
  private async findAll(hashes: Buffer[]): Promise<(Row | null)[]> {
    const rows = await this.prisma.$queryRaw<Row[]>`
      SELECT
        k.hash, k.id, k.role::text, k.quota_id, q.plan,
        CASE WHEN k.expires_at < '10000-01-01 00:00+00' THEN greatest(k.expires_at, 'epoch') END AS expires_at,
        CASE WHEN k.revoked_at < '10000-01-01 00:00+00' THEN greatest(k.revoked_at, 'epoch') END AS revoked_at,
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
    revokedAt: row.revoked_at,
  };
}
