import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Environment } from '../environment.js';
import { configureOnConnect } from './session.js';

const CONNECT_TIMEOUT_MS = 2000;
/**
 * More than a migration may wait for a lock that requests wait behind (docs/operating.md), and little enough that a client
 * is answered by then: with a second behind another question at the most (`Batcher`), within five or so.
 */
const STATEMENT_TIMEOUT_MS = 3500;
/** The server gives up first, and says so; this is for one that says nothing. */
const QUERY_TIMEOUT_MS = 4000;
const IDLE_TIMEOUT_MS = 30_000;
/** A connection that never fails is opened anew so often, in case its address leads to another server by now. */
const LIFETIME_SECONDS = 600;
/** The SQLSTATE of a write to a server, or in a session, that may only be read. */
const READ_ONLY = '25006';
/** Three of ten. */
const PRISMA_SHARE = 0.3;

export type PoolSettings = Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>;

/**
 * How many of so many connections are Prisma's, and how many of the busiest operations' statements. Each has its own, as
 * a transaction may wait for a lock: whoever waits in one holds up neither keys nor animals.
 */
export function poolSizes(connections: number): { prisma: number; statements: number } {
  const prisma = Math.max(1, Math.floor(connections * PRISMA_SHARE));
  return { prisma, statements: connections - prisma };
}

/** The connections of a pool as they are now, and who waits for one. */
export interface PoolState {
  max: number;
  open: number;
  idle: number;
  waiting: number;
}

export function stateOf({ options, totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount };
}

/** A pool of up to `max` connections; who waits for one is told after two seconds that there is none. */
export function createPool({ DATABASE_URL }: Pick<Environment, 'DATABASE_URL'>, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: DATABASE_URL,
    application_name: 'animal-store',
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    onConnect: configureOnConnect,
    // What a request asks that the end of the service has cut off is not waited for.
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced by the next question, which tells what is wrong if that fails too.
  pool.on('error', () => {});
  // So does the next question on one that is lent. Else, where nothing is asked at that moment, its end would be the process's.
  pool.on('connect', (client) => client.on('error', () => {}));
  leaveReadOnly(pool);
  leaveSilent(pool);
  return pool;
}

/**
 * Has each connection closed that has refused a write, as after a failover its address leads to another server. The pool does so
 * after a query of its own that failed; but a transaction gives its connection back as if nothing had happened.
 */
function leaveReadOnly(pool: pg.Pool): void {
  const readOnly = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) => {
    // Of the message ErrorResponse (PostgreSQL, "Message Formats"); not among the types of pg.
    const { connection } = client as pg.PoolClient & {
      connection: EventEmitter<{ errorMessage: [pg.DatabaseError] }>;
    };
    connection.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY) {
        readOnly.add(client);
      }
    });
  });
  pool.on('release', (_error, client) => {
    if (readOnly.has(client)) {
      // The pool is about to see that it ends, and lends it no more.
      void (client as pg.PoolClient & pg.Client).end();
    }
  });
}

/**
 * Has each connection closed on which a question was not answered in time. The pool does so after a query of its own; but a
 * transaction would wait as long again to be rolled back, and then give its connection back as it is: open, and held up.
 */
function leaveSilent(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    // Not among the types of pg.
    const { connection } = client as pg.PoolClient & { connection: { stream: Socket } };
    const { stream } = connection;
    stream.setTimeout(QUERY_TIMEOUT_MS);
    stream.on('timeout', () => {
      if (!(client as pg.PoolClient & { readyForQuery: boolean }).readyForQuery) {
        stream.destroy(new Error('Query read timeout'));
      }
    });
  });
}
