import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { Environment } from '../../process/settings/environment.js';
import { hasCode, isReadOnly, isRejectedValue } from './availability.js';
import { findBorrower, lastStartMs, requestDeadlineError, SILENCE_TIMEOUT_MS } from './request-deadline.js';
import { retryConflicts } from './retry-conflicts.js';
import { configureOnConnect, types } from './session.js';
import { Turns } from './turns.js';

const CONNECT_TIMEOUT_SECONDS = 2;
/** A longer one would keep connections to a server that is back by now, and a shutdown, waiting. */
const CONNECT_TIMEOUT_MAX_SECONDS = 5;
/** Longer than a migration waits for a lock that requests queue behind. */
const STATEMENT_TIMEOUT = { name: 'statement_timeout', value: '3500ms', accepted: '^3500ms$' };
const IDLE_TIMEOUT_MS = 30_000;
/** A connection is replaced after this time, in case its address leads to another server by then. */
const LIFETIME_SECONDS = 600;

/** SQLSTATEs of a prepared statement that is missing, or already exists (PostgreSQL, Appendix A). */
const PREPARED_ELSEWHERE = /^(26000|42P05)$/;
/** The SQLSTATE of a statement whose columns a migration has changed. Its connection is not used again. */
const PREPARED_BEFORE = /^0A000$/;

const logger = new Logger('Database');

/**
 * Options of a client. Load balancers and NAT forget a quiet connection without a word, some after a minute;
 * the operating system waits two hours by default.
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };

/** A connection, with what the types of pg lack. */
type Connected = pg.PoolClient &
  pg.Client & {
    readyForQuery: boolean;
    /** Emits the message ErrorResponse (PostgreSQL, "Message Formats"). */
    connection: EventEmitter<{ errorMessage: [pg.DatabaseError] }> & { stream: Socket };
  };

type Lend = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (broken?: Error | boolean) => void,
) => void;

/** The pools of the service. */
export type Pools = Record<'transactions' | 'queries', ConnectionPool>;

/**
 * Lends a connection to a request only while it has time left for a statement. A quota has one at a time, so
 * that its requests wait for each other rather than others for them. Clients together leave one to
 * administrators and the background; so do the reads of administrators, to changes such as a revocation.
 */
export class ConnectionPool extends pg.Pool {
  private readonly turns: Record<'client' | 'reader', Turns>;
  /** False once a pooler turned out to be in the way. */
  private arePrepared = true;

  constructor(options: pg.PoolConfig & { max: number }) {
    super(options);
    const max = Math.max(1, options.max - 1);
    this.turns = { client: new Turns(max), reader: new Turns(max) };
  }

  /** The number of those who wait for a connection. */
  get pendingCount(): number {
    return this.waitingCount + this.turns.client.waitingCount + this.turns.reader.waitingCount;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(lend: Lend): void;
  override connect(lend?: Lend): Promise<pg.PoolClient> | void {
    if (lend === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (client === undefined ? reject(error) : resolve(client))),
      );
    }
    const leftMs = lastStartMs() - performance.now();
    let isOver = leftMs <= 0;
    let giveUp: (() => void) | undefined;
    const end = () => {
      isOver = true;
      giveUp?.();
      lend(requestDeadlineError(), undefined, () => {});
    };
    if (isOver) {
      end();
      return;
    }
    const timer = leftMs === Infinity ? undefined : setTimeout(end, leftMs);
    const borrow = (endTurn?: () => void) =>
      super.connect((error, client, release) => {
        clearTimeout(timer);
        if (client === undefined) {
          endTurn?.();
        } else if (endTurn !== undefined) {
          client.release = (broken) => {
            release(broken);
            endTurn();
          };
        }
        if (isOver) {
          client?.release();
        } else {
          lend(error, client, (broken) => client?.release(broken));
        }
      });
    const borrower = findBorrower();
    if (borrower === undefined) {
      borrow();
    } else {
      giveUp = this.turns[borrower.kind].take(borrow, borrower.owner);
    }
  }

  /**
   * Runs a statement that is a transaction of its own. It is repeated after a conflict, and if only its
   * preparation failed; a transaction of several statements could not be.
   */
  override query<Row extends pg.QueryResultRow>(
    query: pg.QueryConfig | string,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  /** Other forms of pg, which are not used. */
  override query(query: unknown, values?: unknown): never;
  override query(query: pg.QueryConfig | string, values: unknown[] = []): unknown {
    const config = typeof query === 'string' ? { text: query, values } : query;
    return retryConflicts(() => this.runPrepared(config));
  }

  private async runPrepared({ name, ...unnamed }: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!name || !this.arePrepared) {
      return this.run(unnamed);
    }
    try {
      return await this.run({ name, ...unnamed });
    } catch (error) {
      if (hasCode(error, PREPARED_ELSEWHERE)) {
        if (this.arePrepared) {
          this.arePrepared = false;
          logger.warn('A pooler without prepared statements is in the way, so each is planned anew');
        }
      } else if (!hasCode(error, PREPARED_BEFORE)) {
        throw error;
      }
      return this.run(unnamed);
    }
  }

  /**
   * Runs a query by callbacks: what the driver keeps of one by promise burdens the garbage collector. The
   * method of `pg.Pool` would end the connection after every error.
   */
  private run(query: pg.QueryConfig): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.connect((failure, client, release) => {
        if (client === undefined) {
          reject(failure);
          return;
        }
        client.query(query, (error: Error | null, result) => {
          if (error === null) {
            release();
            resolve(result);
          } else if (isRejectedValue(error) && !hasCode(error, PREPARED_BEFORE)) {
            // PostgreSQL reports the error before it releases the locks that another try may need. It replies
            // to an empty query once they are released.
            client.query('', (lost: Error | null) => {
              release(lost ?? undefined);
              reject(error);
            });
          } else {
            release(error);
            reject(error);
          }
        });
      });
    });
  }
}

/**
 * Returns a pool of up to `max` connections. Waiting for one fails after two seconds, or the
 * `connect_timeout` of the address; and once the request has no time left.
 */
export function createPool({ DATABASE_URL }: Pick<Environment, 'DATABASE_URL'>, max: number): ConnectionPool {
  const pool = new ConnectionPool({
    connectionString: DATABASE_URL,
    application_name: 'animal-store',
    max,
    connectionTimeoutMillis: connectTimeoutMs(DATABASE_URL),
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    types,
    ...KEEP_ALIVE,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    onConnect: configureOnConnect(DATABASE_URL, STATEMENT_TIMEOUT),
    // The process does not wait for the queries of requests that the shutdown has cut off.
    allowExitOnIdle: true,
  });
  // A broken idle connection is replaced for the next query, which reports the error if that fails too.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    // The next query reports the error of a lent connection; without a listener, it would end the process.
    client.on('error', () => {});
    const connected = client as Connected;
    connected.connection.on('errorMessage', (error) => {
      if (isReadOnly(error)) {
        // Otherwise the pool would keep the connection of a failed transaction.
        void connected.end();
      }
    });
    endSilent(connected);
  });
  return pool;
}

/** Returns the `connect_timeout` of an address, which libpq and Prisma have too, in milliseconds. */
function connectTimeoutMs(address = ''): number {
  const given = URL.canParse(address) ? Number(new URL(address).searchParams.get('connect_timeout')) : 0;
  return 1000 * Math.min(given > 0 ? given : CONNECT_TIMEOUT_SECONDS, CONNECT_TIMEOUT_MAX_SECONDS);
}

/**
 * Closes a connection with an overdue query. The driver's `query_timeout` leaves that of a transaction open,
 * and burdens the garbage collector.
 */
function endSilent(client: Connected): void {
  const { stream } = client.connection;
  stream.setTimeout(SILENCE_TIMEOUT_MS);
  stream.on('timeout', () => {
    if (!client.readyForQuery) {
      stream.destroy(new Error('Query read timeout'));
    }
  });
}
