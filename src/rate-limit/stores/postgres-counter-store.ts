import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type pg from 'pg';
import { Batcher, BatchItemError } from '../../database/batcher.js';
import { Clock } from '../../settings/clock.js';
import { isConflict } from '../../database/availability.js';
import { loadSql, namedStatement, retryConflicts, type Statement } from '../../database/query-runner.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { CounterCleanup } from './counter-cleanup.js';
import { CounterStore, CounterStoreError, type UnreportedUsage } from './counter-store.js';
import { PostgresBans } from './postgres-bans.js';
import {
  DEADLINE_MS,
  type OpenConnection,
  PostgresConnection,
  postgresFailure,
  STATEMENT_TIMEOUT_MS,
} from './postgres-connection.js';
import { DeadlineError, withinDeadline } from '../rules/deadline.js';
import {
  type BucketRequests,
  type BucketState,
  type CountedBucket,
  decisionsFor,
  groupByBucket,
  previewOf,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import { dayOf, minuteOf } from '../rules/windows.js';

const ALLOW = allowing('allow', 'unnest($1::text[], $2::int[], $3::int[], $4::int[])');
/** The same for one bucket, from plain parameters: reading arrays costs PostgreSQL a fifth of the statement. */
const ALLOW_ONE = allowing('allow-one', '(VALUES ($1::text, $2::int, $3::int, $4::int))');
const CONSUME = loadSql(import.meta.url, 'consume');
const PEEK = loadSql(import.meta.url, 'peek');
const RECONCILE = loadSql(import.meta.url, 'reconcile');
/** No try starts later than this before the deadline, so that the last one ends in time. */
const LAST_TRY_MS = 250;

/** What allow.sql returns of each bucket whose requests it allows. */
type AllowedRow = Pick<CountedBucket, 'minuteUsed' | 'dayUsed' | 'refusals' | 'nowMs'> & {
  bucketKey: string;
};

/**
 * Counts in PostgreSQL, exactly across replicas. All requests that arrive while a statement is in flight go in the next one,
 * which has one row for each bucket.
 */
@Injectable()
export class PostgresCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.consumeBatch(requests), {
    name: 'count',
  });
  /** The metrics of `consume`. */
  readonly batches = this.batcher.metrics;
  private readonly connection: PostgresConnection;
  /** Settles once all queries so far are over: the connection has one at a time. */
  private turn: Promise<unknown> = Promise.resolve();
  /** Buckets that lacked room in the last batch: their requests go straight to the statement that can deny. */
  private readonly exhausted = new Set<string>();
  private readonly banQueries: PostgresBans;
  readonly cleanup: CounterCleanup;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super();
    this.connection = new PostgresConnection(environment);
    this.banQueries = new PostgresBans(environment, clock);
    this.cleanup = new CounterCleanup(environment, clock);
  }

  onModuleInit(): void {
    this.cleanup.onModuleInit();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.connection.close(), this.banQueries.end(), this.cleanup.onApplicationShutdown()]);
  }

  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    const [bucket] = await this.query<BucketState>(PEEK, [this.clock.storeOffsetMs, request.bucketKey]);
    if (bucket === undefined) {
      throw new Error(`The counter store returned no row for ${request.bucketKey}`);
    }
    return previewOf(bucket, request, this.environment.BAN_DURATIONS);
  }

  async reconcile(usage: UnreportedUsage[]): Promise<void> {
    const columns = ['bucketKey', 'minute', 'minuteUsed', 'perMinute', 'day', 'dayUsed', 'perDay'] as const;
    await this.query(RECONCILE, [
      ...columns.map((column) => usage.map((each) => each[column])),
      this.clock.storeOffsetMs,
    ]);
  }

  async bans(): Promise<Map<string, Date>> {
    return this.environment.BAN_DURATIONS.length === 0 ? new Map() : this.banQueries.list();
  }

  liftBan(bucketKey: string): Promise<Date | null> {
    return this.banQueries.lift(bucketKey);
  }

  private async consumeBatch(requests: RateLimitRequest[]): Promise<(RateLimitDecision | BatchItemError)[]> {
    const batch = groupByBucket(requests);
    return decisionsFor(batch, await this.consumeAll(batch.buckets), this.environment.BAN_DURATIONS);
  }

  /** Allows by the cheap statement what it can, mostly all, and decides about the rest by the full one. */
  private async consumeAll(
    buckets: Map<string, BucketRequests>,
  ): Promise<Map<string, CountedBucket | BatchItemError>> {
    const endMs = performance.now() + DEADLINE_MS;
    const outcomes = new Map<string, CountedBucket | BatchItemError>();
    let rest = [...buckets.values()];
    try {
      if (!rest.some(({ bucketKey }) => this.exhausted.has(bucketKey))) {
        for (const row of await this.allow(rest)) {
          outcomes.set(row.bucketKey, allowedOf(row, countOf(buckets, row)));
        }
        rest = rest.filter(({ bucketKey }) => !outcomes.has(bucketKey));
      }
      // V8 allocates a table for each `clear`, also of an empty set.
      if (this.exhausted.size > 0) {
        this.exhausted.clear();
      }
      if (rest.length > 0) {
        for (const row of await this.decide(rest, endMs - performance.now())) {
          outcomes.set(row.bucketKey, row);
          if (row.allowed < countOf(buckets, row)) {
            this.exhausted.add(row.bucketKey);
          }
        }
      }
    } catch (error) {
      if (!isConflict(error)) {
        // Requests queued behind it have waited as long already.
        this.batcher.rejectQueued(new CounterStoreError('notSent', error));
      }
      if (outcomes.size === 0) {
        throw error;
      }
      // The others are counted already.
      rest.forEach(({ bucketKey }) => outcomes.set(bucketKey, new BatchItemError(error)));
    }
    return outcomes;
  }

  /** @throws CounterStoreError if the time that is left is too short for the server to end the statement first. */
  private async decide(
    buckets: BucketRequests[],
    leftMs: number,
  ): Promise<(CountedBucket & { bucketKey: string })[]> {
    if (leftMs < STATEMENT_TIMEOUT_MS) {
      // Its outcome would be unknown.
      throw new CounterStoreError('failed', new DeadlineError('The counter store is slow'));
    }
    const values = [...columnsOf(buckets), this.clock.storeOffsetMs, this.environment.BAN_DURATIONS];
    return this.query(CONSUME, values, leftMs);
  }

  private allow(buckets: BucketRequests[]): Promise<AllowedRow[]> {
    const columns = columnsOf(buckets);
    return buckets.length === 1
      ? this.query(ALLOW_ONE, [...columns.flat(), this.clock.storeOffsetMs])
      : this.query(ALLOW, [...columns, this.clock.storeOffsetMs]);
  }

  /**
   * Runs a statement once those before it are over, within one deadline for both. A statement that waits behind a hung one was
   * surely not sent.
   *
   * @throws CounterStoreError whose kind says whether it may have been carried out.
   */
  private async query<Row extends pg.QueryResultRow>(
    { preparedName, text }: Statement,
    values: unknown[],
    deadlineMs = DEADLINE_MS,
  ): Promise<Row[]> {
    const progress = { connection: null as Promise<OpenConnection> | null, isSent: false, isOver: false };
    const lastTryMs = performance.now() + deadlineMs - LAST_TRY_MS;
    const rows = this.turn.then(async () => {
      if (progress.isOver) {
        return [];
      }
      progress.connection = this.connection.current ?? this.connection.open();
      const { client, isPooled } = await progress.connection;
      const name = isPooled ? undefined : preparedName;
      return retryConflicts(async () => {
        if (progress.isOver) {
          return [];
        }
        progress.isSent = true;
        return rowsOf<Row>(client, { name, text, values });
      }, lastTryMs);
    });
    this.turn = rows.catch(() => {});
    try {
      return await withinDeadline(rows, deadlineMs);
    } catch (error) {
      progress.isOver = true;
      const failure = postgresFailure(error, progress.isSent);
      if (progress.connection !== null) {
        this.connection.abandon(progress.connection, failure);
      }
      throw failure;
    }
  }
}

/** Runs a query by callback: what the driver keeps of a query by promise makes garbage collections take several times as long. */
function rowsOf<Row extends pg.QueryResultRow>(client: pg.Client, query: pg.QueryConfig): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    client.query<Row>(query, (error, result) => (error ? reject(error) : resolve(result.rows)));
  });
}

/** Returns the statement of allow.sql that reads its requests from this table expression. */
function allowing(name: string, requests: string): Statement {
  return namedStatement(name, loadSql(import.meta.url, 'allow').text.replace(':requests', requests));
}

/** Returns the first four parameters of the statements that consume. */
function columnsOf(buckets: BucketRequests[]): [string[], number[], number[], (number | null)[]] {
  return [
    buckets.map(({ bucketKey }) => bucketKey),
    buckets.map(({ count }) => count),
    buckets.map(({ perMinute }) => perMinute),
    buckets.map(({ perDay }) => perDay),
  ];
}

function countOf(buckets: Map<string, BucketRequests>, { bucketKey }: { bucketKey: string }): number {
  return buckets.get(bucketKey)?.count ?? 0;
}

function allowedOf({ nowMs, ...used }: AllowedRow, allowed: number): CountedBucket {
  const windows = { minute: minuteOf(nowMs), day: dayOf(nowMs) };
  return { ...used, ...windows, nowMs, clockMs: nowMs, allowed, denied: 0, bannedUntil: null };
}
