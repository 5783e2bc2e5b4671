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
/** Longer than the server's own timeout, for a server that does not respond. */
const SILENCE_TIMEOUT_MS = 4000;
const IDLE_TIMEOUT_MS = 30_000;
/** A connection is replaced after this time, in case its address leads to another server by then. */
const LIFETIME_SECONDS = 600;
/** The SQLSTATE of a write to a server, or in a session, that may only be read. */
const READ_ONLY = '25006';
/** Three of ten. */
const PRISMA_SHARE = 0.3;

export type PoolSettings = Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>;

/**
 * Returns the sizes of Prisma's pool and of the pool of the busiest operations' statements. They are apart because a transaction may
 * wait for a lock, which then delays neither keys nor animals.
 */
export function poolSizes(connections: number): { prisma: number; statements: number } {
  const prisma = Math.max(1, Math.floor(connections * PRISMA_SHARE));
  return { prisma, statements: connections - prisma };
}

/** The current connections of a pool, and how many queries wait for one. */
export interface PoolState {
  max: number;
  open: number;
  idle: number;
  waiting: number;
}

export function stateOf({ options, totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount };
}

/** Returns a pool of up to `max` connections, where waiting for one fails after two seconds. */
export function createPool({ DATABASE_URL }: Pick<Environment, 'DATABASE_URL'>, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: DATABASE_URL,
    application_name: 'animal-store',
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    onConnect: configureOnConnect,
    // The process does not wait for the queries of requests that the shutdown has cut off.
    allowExitOnIdle: true,
  });
  // A broken idle connection is replaced for the next query, which reports the error if that fails too.
  pool.on('error', () => {});
  // The next query reports the error of a lent connection; without a listener, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  leaveReadOnly(pool);
  leaveSilent(pool);
  return pool;
}

/**
 * Closes each connection that has refused a write, since its address may lead to another server after a failover. The pool does so
 * after a failed query of its own, but a transaction returns its connection as if nothing had happened.
 */
function leaveReadOnly(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    const end = (_error: unknown, released: pg.PoolClient) => {
      if (released === client) {
        pool.off('release', end);
        // The pool sees it end, and does not lend it again.
        void (client as pg.PoolClient & pg.Client).end();
      }
    };
    // Of the message ErrorResponse (PostgreSQL, "Message Formats"); not among the types of pg.
    const { connection } = client as pg.PoolClient & {
      connection: EventEmitter<{ errorMessage: [pg.DatabaseError] }>;
    };
    connection.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY) {
        pool.off('release', end).on('release', end);
      }
    });
  });
}

/**
 * Closes each connection with an overdue query. The driver's `query_timeout` does not close that of a transaction, and what it keeps of
 * each query survives young garbage collections: a scavenge then takes several times as long.
 */
function leaveSilent(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    // Not among the types of pg.
    const { connection } = client as pg.PoolClient & { connection: { stream: Socket } };
    const { stream } = connection;
    stream.setTimeout(SILENCE_TIMEOUT_MS);
    stream.on('timeout', () => {
      if (!(client as pg.PoolClient & { readyForQuery: boolean }).readyForQuery) {
        stream.destroy(new Error('Query read timeout'));
      }
    });
  });
}
