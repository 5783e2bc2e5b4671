import net from 'node:net';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import pg from 'pg';
import { Batcher, BatchItemError } from '../batcher.js';
import { Clock } from '../clock.js';
import { databaseReason, isConflict, retryConflicts } from '../database/availability.js';
import { loadSql, namedStatement, type Statement } from '../database/query-runner.js';
import { configureOnConnect, configureSession } from '../database/session.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { PeriodicTask } from '../periodic-task.js';
import { CounterStore, CounterStoreError, type UnreportedUsage } from './counter-store.js';
import { DeadlineError, withinDeadline } from './deadline.js';
import {
  type BucketRequests,
  type CountedBucket,
  decisionsFor,
  groupByBucket,
  previewOf,
  type RateLimitDecision,
  type RateLimitRequest,
} from './rate-limit-decision.js';
import { dayOf, minuteOf } from './windows.js';

const ALLOW = loadSql(import.meta.url, 'allow');
/** The same for one bucket, from plain parameters: reading arrays costs PostgreSQL a fifth of the statement. */
const ALLOW_ONE = namedStatement(
  'allow-one',
  ALLOW.text.replace(/unnest\(.*?\) AS/, '(VALUES ($1::text, $2::int, $3::int, $4::int)) AS'),
);
const CONSUME = loadSql(import.meta.url, 'consume');
const PEEK = loadSql(import.meta.url, 'peek');
const RECONCILE = loadSql(import.meta.url, 'reconcile');
const LIFT_BAN = loadSql(import.meta.url, 'lift-ban');
const SWEEP = loadSql(import.meta.url, 'sweep');
const SWEEP_INTERVAL_MS = 60_000;
/** Rows that one statement removes at the most, so that counting never waits long behind it. */
const SWEEP_BATCH = 5_000;
/** The server gives up first, and says so: then it is known that nothing was counted. */
const STATEMENT_TIMEOUT_MS = 500;
/** For a question, and the connection where there is none yet. */
const DEADLINE_MS = 750;
/** A conflict is followed by another try until so long before the deadline. That is for the last try: then it is known that nothing was counted. */
const LAST_TRY_MS = 250;
/** The SQLSTATE of a question that took too long: no fault of the connection that it went by. */
const QUERY_CANCELED = '57014';
/** Of bans there may be tens of thousands. */
const BANS_TIMEOUT_MS = 3000;
/** Removing old rows reads all of them. */
const SWEEP_TIMEOUT_MS = 30_000;
const ASIDE_IDLE_MS = 10_000;

/** What allow.sql returns of each bucket whose requests it allowed. */
interface AllowedRow {
  subject: string;
  minute_used: number;
  day_used: number;
  refusals: number;
  now_ms: number;
}

/** What peek.sql tells. */
interface Look {
  refusals: number;
  banned_until: Date | null;
  minute: number;
  minute_used: number;
  day: number;
  day_used: number;
  now_ms: number;
  clock_ms: number;
}

/** What consume.sql tells of each subject. */
interface Row extends Look {
  subject: string;
  granted: number;
  refused: number;
}

const countedOf = (row: Look, { granted, refused }: { granted: number; refused: number }): CountedBucket => ({
  allowed: granted,
  denied: refused,
  refusals: row.refusals,
  bannedUntil: row.banned_until,
  minute: row.minute,
  minuteUsed: row.minute_used,
  day: row.day,
  dayUsed: row.day_used,
  nowMs: row.now_ms,
  clockMs: row.clock_ms,
});

const allowedOf = (row: AllowedRow, { count: asked }: BucketRequests): CountedBucket => ({
  allowed: asked,
  denied: 0,
  refusals: row.refusals,
  bannedUntil: null,
  minute: minuteOf(row.now_ms),
  minuteUsed: row.minute_used,
  day: dayOf(row.now_ms),
  dayUsed: row.day_used,
  nowMs: row.now_ms,
  clockMs: row.now_ms,
});

/**
 * Counts in PostgreSQL, exactly across replicas. All requests that arrive while one question is under way go
 * in the next one, which has one row for each subject.
 */
@Injectable()
export class PostgresCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PostgresCounterStore.name);
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.takeAll(requests), {
    name: 'count',
  });
  /** The takings. */
  readonly questions = this.batcher.metrics;
  private client: Promise<pg.Client> | null = null;
  /** The connections through a pooler, which would lend a prepared statement to others, and knows none of theirs. */
  private readonly pooled = new WeakSet<pg.Client>();
  /** Settles once the connection is free of all questions so far. */
  private turn: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  /** Buckets that the last batch found without room for all its requests: theirs go straight to the statement that can deny. */
  private readonly exhausted = new Set<string>();
  /** For bans, which must not hold up counting. Two, so that one that waits for a row keeps nobody from the rest. */
  private readonly aside: pg.Pool;
  private readonly sweeping: PeriodicTask;
  /** The connection of the sweep that is under way. */
  private sweeper: pg.Client | null = null;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super();
    this.aside = new pg.Pool({
      connectionString: directUrl(environment),
      application_name: 'animal-store bans',
      connectionTimeoutMillis: DEADLINE_MS,
      idleTimeoutMillis: ASIDE_IDLE_MS,
      max: 2,
      statement_timeout: BANS_TIMEOUT_MS,
      query_timeout: BANS_TIMEOUT_MS,
      onConnect: configureOnConnect,
      // A server that is gone does not keep the process.
      allowExitOnIdle: true,
    });
    // The question that is under way tells it, if there is one.
    this.aside.on('error', () => {});
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
    const swept = this.sweeping.stop();
    // A sweep takes long, and is taken up again by whoever sweeps next.
    const sweeper = this.sweeper && endOf(this.sweeper);
    const connection = this.client;
    this.client = null;
    // One that never came about was told to whoever asked by it.
    const ended = connection?.then(endOf, () => {});
    await Promise.all([ended, this.aside.end(), sweeper, swept]);
  }

  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    const [row] = await this.request<Look>(PEEK, [this.clock.storeOffsetMs, request.bucketKey]);
    if (row === undefined) {
      throw new Error(`The counter store gave no row for ${request.bucketKey}`);
    }
    return previewOf(countedOf(row, { granted: 0, refused: 0 }), request, this.environment.BAN_DURATIONS);
  }

  async reconcile(taken: UnreportedUsage[]): Promise<void> {
    await this.request(RECONCILE, [
      taken.map(({ bucketKey }) => bucketKey),
      taken.map(({ minute }) => minute),
      taken.map(({ minuteUsed }) => minuteUsed),
      taken.map(({ perMinute }) => perMinute),
      taken.map(({ day }) => day),
      taken.map(({ dayUsed }) => dayUsed),
      taken.map(({ perDay }) => perDay),
      this.clock.storeOffsetMs,
    ]);
  }

  async bans(): Promise<Map<string, Date>> {
    if (this.environment.BAN_DURATIONS.length === 0) {
      return new Map();
    }
    const { rows } = await this.aside.query<{ subject: string; banned_until: Date }>(
      `SELECT subject, banned_until FROM rate_limit_counters
       WHERE banned_until > statement_timestamp() + make_interval(secs => $1::float8 / 1000)`,
      [this.clock.storeOffsetMs],
    );
    return new Map(rows.map(({ subject, banned_until }) => [subject, banned_until]));
  }

  async liftBan(subject: string): Promise<Date | null> {
    const { rows } = await retryConflicts(() =>
      this.aside.query<{ banned_until: Date }>(LIFT_BAN.text, [this.clock.storeOffsetMs, subject]),
    );
    const [row] = rows;
    return row?.banned_until ?? null;
  }

  /**
   * Removes rows whose windows are over, on a connection of its own, as that takes long.
   *
   * @returns whether there may be more of them.
   * @throws the driver's error when the database is away.
   */
  async sweep(): Promise<boolean> {
    const sweeper = new pg.Client({
      connectionString: directUrl(this.environment),
      application_name: 'animal-store sweep',
      connectionTimeoutMillis: DEADLINE_MS,
      statement_timeout: SWEEP_TIMEOUT_MS,
      query_timeout: SWEEP_TIMEOUT_MS,
    });
    // The question that is under way tells it.
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

  private async takeAll(requests: RateLimitRequest[]): Promise<(RateLimitDecision | BatchItemError)[]> {
    const batch = groupByBucket(requests);
    return decisionsFor(batch, await this.consumeAll(batch.buckets), this.environment.BAN_DURATIONS);
  }

  /** Allows by the cheap statement what it can, which mostly is all, and has the full one decide about the rest. */
  private async consumeAll(
    buckets: Map<string, BucketRequests>,
  ): Promise<Map<string, CountedBucket | BatchItemError>> {
    const endMs = performance.now() + DEADLINE_MS;
    const outcomes = new Map<string, CountedBucket | BatchItemError>();
    const all = [...buckets.values()];
    if (!all.some(({ bucketKey }) => this.exhausted.has(bucketKey))) {
      for (const row of await this.allow(all)) {
        outcomes.set(row.subject, allowedOf(row, buckets.get(row.subject) as BucketRequests));
      }
    }
    this.exhausted.clear();
    const rest = all.filter(({ bucketKey }) => !outcomes.has(bucketKey));
    if (rest.length === 0) {
      return outcomes;
    }
    try {
      const values = [...columnsOf(rest), this.clock.storeOffsetMs, this.environment.BAN_DURATIONS];
      for (const row of await this.query<Row>(CONSUME, values, endMs - performance.now())) {
        outcomes.set(row.subject, countedOf(row, row));
        if (row.granted < (buckets.get(row.subject) as BucketRequests).count) {
          this.exhausted.add(row.subject);
        }
      }
    } catch (error) {
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

  private async query<Answer extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[],
    deadlineMs?: number,
  ): Promise<Answer[]> {
    try {
      return await this.request<Answer>(statement, values, deadlineMs);
    } catch (error) {
      if (!isConflict(error)) {
        // Who gathered behind it has waited as long already.
        this.batcher.rejectQueued(new CounterStoreError('notSent', error));
      }
      throw error;
    }
  }

  /**
   * Asks one question, within the deadline, when those before it are over. So one that waits behind an answer that does not come
   * was surely not asked.
   *
   * @throws CounterStoreError that tells whether it may have been carried out.
   */
  private async request<Answer extends pg.QueryResultRow>(
    { preparedName, text }: Statement,
    values: unknown[],
    deadlineMs = DEADLINE_MS,
  ): Promise<Answer[]> {
    const progress = { connection: null as Promise<pg.Client> | null, isAsked: false, isOver: false };
    const itsTurn = this.turn;
    const conflictEndMs = performance.now() + deadlineMs - LAST_TRY_MS;
    const answer = async () => {
      await itsTurn;
      if (!progress.isOver) {
        progress.connection = this.connection();
      }
      const client = await progress.connection;
      return retryConflicts(async () => {
        if (client === null || progress.isOver) {
          // Who asked was told that nothing is counted.
          return [];
        }
        progress.isAsked = true;
        const name = this.pooled.has(client) ? undefined : preparedName;
        return (await client.query<Answer>({ name, text, values })).rows;
      }, conflictEndMs);
    };
    const answering = answer();
    this.turn = answering.catch(() => {});
    try {
      return await withinDeadline(answering, deadlineMs);
    } catch (error) {
      progress.isOver = true;
      if (isConflict(error)) {
        throw new CounterStoreError('conflict', error);
      }
      const isRefusedByServer = error instanceof pg.DatabaseError && error.severity !== 'FATAL';
      if (progress.connection !== null && !(isRefusedByServer && error.code === QUERY_CANCELED)) {
        // What is still under way on this connection would hold up the next question; and a server that may only be read, as
        // its name leads to another by now, would refuse that too.
        this.forget(progress.connection);
        progress.connection.then(
          (client) => client.end(),
          () => {},
        );
      }
      if (progress.isAsked) {
        throw new CounterStoreError(isRefusedByServer ? 'failed' : 'outcomeUnknown', error);
      }
      throw new CounterStoreError(error instanceof DeadlineError ? 'failed' : 'noConnection', error);
    }
  }

  private connection(): Promise<pg.Client> {
    if (this.isClosed) {
      // A request that the end has cut off may still request; a connection for it would outlive the service.
      return Promise.reject(new Error('The service is ending'));
    }
    this.client ??= this.connect();
    return this.client;
  }

  /** Has the next question open a new connection, unless that has happened already. */
  private forget(connection: Promise<pg.Client>): void {
    if (this.client === connection) {
      this.client = null;
    }
  }

  /**
   * A connection of its own, not one of the pool: `synchronous_commit = off` makes counting several times
   * faster and risks no more than the counts of a crashed server's last moments, but would risk animals.
   */
  private connect(): Promise<pg.Client> {
    // Ours to destroy: an orderly end would wait for a peer that may be gone.
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
    // Who requests by it is told; and who requests next opens another.
    client.on('error', () => this.forget(connection));
    client.on('end', () => this.forget(connection));
    return connection;
  }
}

/** The first four parameters of the statements that consume. */
function columnsOf(buckets: BucketRequests[]): [string[], number[], number[], (number | null)[]] {
  return [
    buckets.map(({ bucketKey }) => bucketKey),
    buckets.map(({ count: asked }) => asked),
    buckets.map(({ perMinute }) => perMinute),
    buckets.map(({ perDay }) => perDay),
  ];
}

/** Ends a connection in order, and waits for that no longer than for an answer: the server may be gone. */
async function endOf(client: pg.Client): Promise<void> {
  // Not among the types of pg.
  (client as pg.Client & { unref(): void }).unref();
  await withinDeadline(client.end(), DEADLINE_MS).catch(() => {});
}

/** Past a pooler, which would lend the connection that counts, with its settings and prepared statements, to others. */
function directUrl({ DIRECT_DATABASE_URL, DATABASE_URL }: Environment): string | undefined {
  return DIRECT_DATABASE_URL ?? DATABASE_URL;
}
