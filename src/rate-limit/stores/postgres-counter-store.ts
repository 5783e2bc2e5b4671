import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Batcher } from '../../database/batcher.js';
import { loadSql, namedStatement, QueryRunner, type Statement } from '../../database/query-runner.js';
import { Clock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import {
  type BucketRequests,
  type BucketState,
  type CountedBucket,
  decisionsFor,
  groupByBucket,
  previewDecision,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import { dayOf, minuteOf } from '../rules/windows.js';
import { CounterStore } from './counter-store.js';
import { PostgresConnection } from './postgres-connection.js';

const ALLOW = allowing('allow', 'unnest($1::text[], $2::int[], $3::int[], $4::int[])');
/** The same for one bucket, from plain parameters: reading arrays costs PostgreSQL a fifth of the statement. */
const ALLOW_ONE = allowing('allow-one', '(VALUES ($1::text, $2::int, $3::int, $4::int))');
const CONSUME = loadSql(import.meta.url, 'consume');
const PEEK = loadSql(import.meta.url, 'peek');
const LIFT_BAN = loadSql(import.meta.url, 'lift-ban');
const BANS = namedStatement(
  'bans',
  `SELECT bucket_key, banned_until FROM rate_limit_counters
   WHERE banned_until > statement_timestamp() + make_interval(secs => $1::float8 / 1000)`,
);

/** What allow.sql returns of each bucket whose requests it allows. */
type AllowedRow = Pick<CountedBucket, 'minuteUsed' | 'dayUsed' | 'refusals' | 'nowMs'> & {
  bucketKey: string;
};

/**
 * Counts in PostgreSQL, exactly across replicas. All requests that arrive while a statement is in flight go in the next one,
 * which has one row for each bucket.
 */
@Injectable()
export class PostgresCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.consumeBatch(requests), {
    name: 'count',
  });
  /** The metrics of `consume`. */
  readonly batches = this.batcher.metrics;
  private readonly connection: PostgresConnection;
  /** Buckets that lacked room in the last batch: their requests go straight to the statement that can deny. */
  private readonly exhausted = new Set<string>();

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
    /** For bans, so that counting does not wait for them. */
    private readonly queries: QueryRunner,
  ) {
    super();
    this.connection = new PostgresConnection(environment);
  }

  onApplicationShutdown(): Promise<void> {
    return this.connection.close();
  }

  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    const values = [this.clock.storeOffsetMs, request.bucketKey];
    const [bucket] = await this.connection.query<BucketState>(PEEK, values);
    if (bucket === undefined) {
      throw new Error(`The counter store returned no row for ${request.bucketKey}`);
    }
    return previewDecision(bucket, request, this.environment.BAN_DURATIONS);
  }

  /** Allows requests of no bucket: that fails if a lock, a missing privilege or a read-only server keeps it from counting. */
  async ping(): Promise<void> {
    await this.connection.query(ALLOW, [...toColumns([]), this.clock.storeOffsetMs]);
  }

  async bans(): Promise<Map<string, Date>> {
    return this.environment.BAN_DURATIONS.length === 0
      ? new Map()
      : new Map(await this.queries.run<[string, Date]>(BANS, [this.clock.storeOffsetMs]));
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const [ban] = await this.queries.run<[Date]>(LIFT_BAN, [this.clock.storeOffsetMs, bucketKey]);
    return ban?.[0] ?? null;
  }

  private async consumeBatch(requests: RateLimitRequest[]) {
    const batch = groupByBucket(requests);
    return decisionsFor(batch, await this.count(batch.buckets), this.environment.BAN_DURATIONS);
  }

  /** Allows by the cheap statement what it can, mostly all, and decides about the rest by the full one. */
  private async count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket>> {
    const counted = new Map<string, CountedBucket>();
    let rest = [...buckets.values()];
    if (!rest.some(({ bucketKey }) => this.exhausted.has(bucketKey))) {
      for (const row of await this.allow(rest)) {
        counted.set(row.bucketKey, allowedBucket(row, requestCount(buckets, row)));
      }
      rest = rest.filter(({ bucketKey }) => !counted.has(bucketKey));
    }
    // V8 allocates a table for each `clear`, also of an empty set.
    if (this.exhausted.size > 0) {
      this.exhausted.clear();
    }
    if (rest.length > 0) {
      const values = [...toColumns(rest), this.clock.storeOffsetMs, this.environment.BAN_DURATIONS];
      const rows = await this.connection.query<CountedBucket & { bucketKey: string }>(CONSUME, values);
      for (const row of rows) {
        counted.set(row.bucketKey, row);
        if (row.allowed < requestCount(buckets, row)) {
          this.exhausted.add(row.bucketKey);
        }
      }
    }
    return counted;
  }

  private allow(buckets: BucketRequests[]): Promise<AllowedRow[]> {
    const columns = toColumns(buckets);
    return buckets.length === 1
      ? this.connection.query(ALLOW_ONE, [...columns.flat(), this.clock.storeOffsetMs])
      : this.connection.query(ALLOW, [...columns, this.clock.storeOffsetMs]);
  }
}

/** Returns the statement of allow.sql that reads its requests from this table expression. */
function allowing(name: string, requests: string): Statement {
  return namedStatement(name, loadSql(import.meta.url, 'allow').text.replace(':requests', requests));
}

/** Returns the first four parameters of the statements that consume. */
function toColumns(buckets: BucketRequests[]): [string[], number[], number[], (number | null)[]] {
  return [
    buckets.map(({ bucketKey }) => bucketKey),
    buckets.map(({ count }) => count),
    buckets.map(({ perMinute }) => perMinute),
    buckets.map(({ perDay }) => perDay),
  ];
}

function requestCount(buckets: Map<string, BucketRequests>, { bucketKey }: { bucketKey: string }): number {
  return buckets.get(bucketKey)?.count ?? 0;
}

function allowedBucket({ nowMs, ...used }: AllowedRow, allowed: number): CountedBucket {
  const windows = { minute: minuteOf(nowMs), day: dayOf(nowMs) };
  return { ...used, ...windows, nowMs, clockMs: nowMs, allowed, denied: 0, bannedUntil: null };
}
