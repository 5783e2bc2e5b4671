import type { OnApplicationShutdown } from '@nestjs/common';
import { loadApart } from '../../database/batches/load-apart.js';
import type { PrismaService } from '../../database/access/prisma.service.js';
import { loadSql, namedStatement } from '../../database/access/statement.js';
import type { Environment } from '../../process/settings/environment.js';
import type {
  BucketRequests,
  BucketState,
  CountedBucket,
  RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import { LEVEL_FALLS_AFTER_MS } from '../rules/ban.js';
import { toDay, toMinute } from '../rules/windows.js';
import { PostgresConnection } from './postgres-connection.js';
import { CounterStore, counterStoreError, PING_DEADLINE_MS, QUIET_MS } from './counter-store.js';

const ALLOW = loadSql(import.meta.url, 'allow');
/**
 * The same for one bucket, from plain parameters: reading arrays costs PostgreSQL a fifth of the statement.
 */
const ALLOW_ONE = namedStatement(
  'allow-one',
  ALLOW.text.replace(
    'unnest($1::text[], $2::int[], $3::int[], $4::int[])',
    () => '(VALUES ($1::text, $2::int, $3::int, $4::int))',
  ),
);
const CONSUME = loadSql(import.meta.url, 'consume');
const PEEK = loadSql<BucketState>(import.meta.url, 'peek');
const LIFT_BAN = loadSql<{ bannedUntilMs: number }>(import.meta.url, 'lift-ban');
const ACTIVE_BANS = `
  SELECT bucket_key AS "bucketKey", (extract(epoch FROM banned_until) * 1000)::float8 AS "bannedUntilMs"
  FROM rate_limit_counters
  WHERE banned_until > statement_timestamp()`;
const BANS = namedStatement<BanRow>('bans', ACTIVE_BANS);
const BANS_OF = namedStatement<BanRow>('bans-of', `${ACTIVE_BANS} AND bucket_key = ANY ($1::text[])`);

interface BanRow {
  bucketKey: string;
  bannedUntilMs: number;
}

/** Counts in PostgreSQL, in one row for each bucket. */
export class PostgresCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly connection: PostgresConnection;
  /** Buckets that lacked room in the last batch: their requests go straight to `consume.sql`. */
  private readonly exhausted = new Set<string>();

  /** @param prisma reads, and lifts bans, so that counting does not wait for these. */
  constructor(
    environment: Environment,
    private readonly prisma: PrismaService,
    quietMs = QUIET_MS,
  ) {
    super(environment);
    this.connection = new PostgresConnection(environment, quietMs);
  }

  onApplicationShutdown(): Promise<void> {
    return this.connection.close();
  }

  /** Counts no bucket, which fails if a lock, a privilege or a read-only server prevents counting. */
  async ping(): Promise<void> {
    await this.connection.query(ALLOW, toColumns([]), PING_DEADLINE_MS);
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const [ban] = await this.prisma.sql.query(LIFT_BAN, bucketKey);
    return ban === undefined ? null : new Date(ban.bannedUntilMs);
  }

  protected async read({ bucketKey }: RateLimitRequest): Promise<BucketState> {
    const [row] = await this.prisma.sql.query(PEEK, bucketKey).catch((error: unknown) => {
      // This is another connection, so counting may still work.
      throw counterStoreError(error, true);
    });
    if (row === undefined) {
      throw new Error(`The counter store returned no row for ${bucketKey}`);
    }
    return row;
  }

  protected async readBans(bucketKeys?: readonly string[]): Promise<Map<string, Date>> {
    const bans = await (bucketKeys === undefined
      ? this.prisma.sql.query(BANS)
      : this.prisma.sql.query(BANS_OF, bucketKeys));
    return new Map(bans.map(({ bucketKey, bannedUntilMs }) => [bucketKey, new Date(bannedUntilMs)]));
  }

  /** Allows by the cheap statement what it can, mostly all, and decides about the rest by the full one. */
  protected async count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket | Error>> {
    const counted = new Map<string, CountedBucket | Error>();
    const requestCount = (bucketKey: string) => buckets.get(bucketKey)?.count ?? 0;
    const fail = (failed: BucketRequests[], error: unknown) =>
      failed.forEach(({ bucketKey }) => counted.set(bucketKey, error as Error));
    let rest = [...buckets.values()];
    // Each statement is loaded apart by itself, because the second must not repeat the counts of the first.
    if (!rest.some(({ bucketKey }) => this.exhausted.has(bucketKey))) {
      await loadApart(rest, {
        load: (some) => this.allow(some),
        settle: (_some, rows) =>
          rows.forEach((row) => counted.set(row.bucketKey, allowedBucket(row, requestCount(row.bucketKey)))),
        fail,
      });
      rest = rest.filter(({ bucketKey }) => !counted.has(bucketKey));
    }
    // V8 allocates a table for each `clear`, even of an empty set.
    if (this.exhausted.size > 0) {
      this.exhausted.clear();
    }
    if (rest.length > 0) {
      await loadApart(rest, {
        load: (some) => this.consumeAll(some),
        settle: (_some, rows) => {
          for (const row of rows) {
            counted.set(row.bucketKey, row);
            if (row.allowed < requestCount(row.bucketKey)) {
              this.exhausted.add(row.bucketKey);
            }
          }
        },
        fail,
      });
    }
    return counted;
  }

  private consumeAll(buckets: BucketRequests[]): Promise<(CountedBucket & { bucketKey: string })[]> {
    return this.connection.query(CONSUME, [
      ...toColumns(buckets),
      buckets.map(({ banThreshold }) => banThreshold),
      this.environment.BAN_DURATIONS,
      LEVEL_FALLS_AFTER_MS,
    ]);
  }

  private allow(buckets: BucketRequests[]): Promise<AllowedRow[]> {
    const columns = toColumns(buckets);
    return buckets.length === 1
      ? this.connection.query(ALLOW_ONE, columns.flat())
      : this.connection.query(ALLOW, columns);
  }
}

/** Returns the first four parameters of `allow.sql` and `consume.sql`. */
function toColumns(buckets: BucketRequests[]): [string[], number[], number[], (number | null)[]] {
  return [
    buckets.map(({ bucketKey }) => bucketKey),
    buckets.map(({ count }) => count),
    buckets.map(({ perMinute }) => perMinute),
    buckets.map(({ perDay }) => perDay),
  ];
}

/** What `allow.sql` returns of each bucket whose requests it allows. */
type AllowedRow = Pick<CountedBucket, 'minuteUsed' | 'dayUsed' | 'denials' | 'nowMs'> & {
  bucketKey: string;
};

function allowedBucket(row: AllowedRow, allowed: number): CountedBucket {
  const windows = { minute: toMinute(row.nowMs), day: toDay(row.nowMs) };
  return { ...row, ...windows, allowed, denied: 0, bannedUntilMs: null };
}
