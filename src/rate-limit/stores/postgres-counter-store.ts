import net from 'node:net';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import pg from 'pg';
import { Batcher, BatchItemError } from '../../database/batcher.js';
import { Clock } from '../../settings/clock.js';
import { databaseReason, isConflict } from '../../database/availability.js';
import { loadSql, namedStatement, retryConflicts, type Statement } from '../../database/query-runner.js';
import { configureOnConnect, configureSession } from '../../database/session.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { PeriodicTask } from '../../database/periodic-task.js';
import { CounterStore, CounterStoreError, type UnreportedUsage } from './counter-store.js';
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
const LIFT_BAN = loadSql(import.meta.url, 'lift-ban');
const SWEEP = loadSql(import.meta.url, 'sweep');
const SWEEP_INTERVAL_MS = 60_000;
/** Rows that one statement removes at most, so that counting never waits long behind it. */
const SWEEP_BATCH = 5_000;
/** Before the deadline, so that the server reports it: then nothing was counted. */
const STATEMENT_TIMEOUT_MS = 500;
/** For a query, and for the connection if there is none yet. */
const DEADLINE_MS = 750;
/** No try starts later than this before the deadline, so that the last one ends in time. */
const LAST_TRY_MS = 250;
/** The SQLSTATE of a statement that took too long, which its connection survives. */
const QUERY_CANCELED = '57014';
/** There may be tens of thousands of bans. */
const BANS_TIMEOUT_MS = 3000;
/** Removing old rows reads all rows. */
const SWEEP_TIMEOUT_MS = 30_000;
const BANS_IDLE_MS = 10_000;

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
  private readonly logger = new Logger(PostgresCounterStore.name);
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.consumeBatch(requests), {
    name: 'count',
  });
  /** The metrics of `consume`. */
  readonly batches = this.batcher.metrics;
  private client: Promise<pg.Client> | null = null;
  /** Connections through a pooler, which shares server connections, and so prepared statements, among its clients. */
  private readonly pooled = new WeakSet<pg.Client>();
  /** Settles once all queries so far are over: the connection has one at a time. */
  private turn: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  /** Buckets that lacked room in the last batch: their requests go straight to the statement that can deny. */
  private readonly exhausted = new Set<string>();
  /** Two connections, so that neither counting nor another query of bans waits for one that waits for a row. */
  private readonly bansPool: pg.Pool;
  private readonly sweeping: PeriodicTask;
  /** The connection of the sweep in flight. */
  private sweeper: pg.Client | null = null;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super();
    this.bansPool = new pg.Pool({
      ...optionsOf(environment, 'bans', BANS_TIMEOUT_MS),
      idleTimeoutMillis: BANS_IDLE_MS,
      max: 2,
      onConnect: configureOnConnect,
      // A server that is gone must not keep the process alive.
      allowExitOnIdle: true,
    });
    // The query in flight, if any, rejects with the same error.
    this.bansPool.on('error', () => {});
    this.sweeping = new PeriodicTask(
      SWEEP_INTERVAL_MS,
      () => this.sweep(),
      (error) => this.logger.warn(`Old counters were not removed: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.sweeping.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    const connection = this.client;
    this.client = null;
    await Promise.all([
      connection?.then(endOf, () => {}),
      this.bansPool.end(),
      this.sweeping.stop(),
      // A sweep takes long, and any replica resumes it.
      this.sweeper && endOf(this.sweeper),
    ]);
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

  async reconcile(taken: UnreportedUsage[]): Promise<void> {
    const columns = ['bucketKey', 'minute', 'minuteUsed', 'perMinute', 'day', 'dayUsed', 'perDay'] as const;
    await this.query(RECONCILE, [
      ...columns.map((column) => taken.map((usage) => usage[column])),
      this.clock.storeOffsetMs,
    ]);
  }

  async bans(): Promise<Map<string, Date>> {
    if (this.environment.BAN_DURATIONS.length === 0) {
      return new Map();
    }
    const { rows } = await this.bansPool.query<{ subject: string; banned_until: Date }>(
      `SELECT subject, banned_until FROM rate_limit_counters
       WHERE banned_until > statement_timestamp() + make_interval(secs => $1::float8 / 1000)`,
      [this.clock.storeOffsetMs],
    );
    return new Map(rows.map(({ subject, banned_until }) => [subject, banned_until]));
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const { rows } = await retryConflicts(() =>
      this.bansPool.query<{ banned_until: Date }>(LIFT_BAN.text, [this.clock.storeOffsetMs, bucketKey]),
    );
    return rows[0]?.banned_until ?? null;
  }

  /**
   * Removes rows whose windows are over, on a connection of its own, as that takes long.
   *
   * @returns whether there may be more of them.
   * @throws the driver's error when the database is away.
   */
  async sweep(): Promise<boolean> {
    const sweeper = new pg.Client(optionsOf(this.environment, 'sweep', SWEEP_TIMEOUT_MS));
    // The query in flight rejects with the same error.
    sweeper.on('error', () => {});
    this.sweeper = sweeper;
    try {
      await sweeper.connect();
      await configureSession(sweeper);
      const { rowCount } = await sweeper.query(SWEEP.text, [this.clock.storeOffsetMs, SWEEP_BATCH]);
      return rowCount === SWEEP_BATCH;
    } finally {
      this.sweeper = null;
      await endOf(sweeper);
    }
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
        const leftMs = endMs - performance.now();
        if (leftMs < STATEMENT_TIMEOUT_MS) {
          // The server would give up after the deadline, and the outcome would be unknown.
          throw new CounterStoreError('failed', new DeadlineError('The counter store is slow'));
        }
        const values = [...columnsOf(rest), this.clock.storeOffsetMs, this.environment.BAN_DURATIONS];
        type Row = CountedBucket & { bucketKey: string };
        for (const row of await this.query<Row>(CONSUME, values, leftMs)) {
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
    const progress = { connection: null as Promise<pg.Client> | null, isSent: false, isOver: false };
    const lastTryMs = performance.now() + deadlineMs - LAST_TRY_MS;
    const rows = this.turn.then(async () => {
      if (progress.isOver) {
        return [];
      }
      progress.connection = this.connection();
      const client = await progress.connection;
      const name = this.pooled.has(client) ? undefined : preparedName;
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
      if (isConflict(error)) {
        throw new CounterStoreError('conflict', error);
      }
      const isServerError = error instanceof pg.DatabaseError && error.severity !== 'FATAL';
      if (progress.connection !== null && !(isServerError && error.code === QUERY_CANCELED)) {
        // A statement in flight would delay the next one, and after a failover the name may lead to another server.
        this.forget(progress.connection);
        progress.connection.then(
          (client) => client.end(),
          () => {},
        );
      }
      if (progress.isSent) {
        throw new CounterStoreError(isServerError ? 'failed' : 'outcomeUnknown', error);
      }
      throw new CounterStoreError(error instanceof DeadlineError ? 'failed' : 'noConnection', error);
    }
  }

  private connection(): Promise<pg.Client> {
    if (this.isClosed) {
      // A new connection would outlive the service.
      return Promise.reject(new Error('The service is ending'));
    }
    this.client ??= this.connect();
    return this.client;
  }

  /** Has the next query open a new connection, unless that has happened already. */
  private forget(connection: Promise<pg.Client>): void {
    if (this.client === connection) {
      this.client = null;
    }
  }

  /**
   * Opens a connection for counting alone, with `synchronous_commit = off`: counting is several times faster, and risks only the
   * counts of a crashed server's last moments. On a shared connection it would risk animals too.
   */
  private connect(): Promise<pg.Client> {
    // It can be destroyed; an orderly end would wait for a server that may be gone.
    const socket = new net.Socket();
    const client = new pg.Client({
      connectionString: directUrl(this.environment),
      application_name: 'animal-store counters',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const prepare = async () => {
      await client.connect();
      if (!(await configureSession(client, { synchronous_commit: 'off' }))) {
        this.pooled.add(client);
      }
      return client;
    };
    const connection = withinDeadline(prepare(), DEADLINE_MS).catch((error: unknown) => {
      this.forget(connection);
      socket.destroy();
      throw error;
    });
    // The query in flight rejects with the same error; the next one opens another connection.
    client.on('error', () => this.forget(connection));
    client.on('end', () => this.forget(connection));
    return connection;
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

/** Ends a connection in order, within the deadline: the server may be gone. */
async function endOf(client: pg.Client): Promise<void> {
  // Not among the types of pg.
  (client as pg.Client & { unref(): void }).unref();
  await withinDeadline(client.end(), DEADLINE_MS).catch(() => {});
}

function optionsOf(environment: Environment, name: string, timeoutMs: number): pg.ClientConfig {
  return {
    connectionString: directUrl(environment),
    application_name: `animal-store ${name}`,
    connectionTimeoutMillis: DEADLINE_MS,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
  };
}

/** Returns the URL past a pooler: behind one, settings and prepared statements would not belong to the connection. */
function directUrl({ DIRECT_DATABASE_URL, DATABASE_URL }: Environment): string | undefined {
  return DIRECT_DATABASE_URL ?? DATABASE_URL;
}
