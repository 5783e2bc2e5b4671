import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Environment } from '../settings/environment.js';
import { configureOnConnect } from './session.js';

const CONNECT_TIMEOUT_MS = 2000;
/** Longer than a migration waits for a lock that requests queue behind (docs/operating.md). A client waits a second more (`Batcher`). */
const STATEMENT_TIMEOUT_MS = 3500;
/** Longer than the server's own timeout, for a server that does not respond. */
const SILENCE_TIMEOUT_MS = 4000;
const IDLE_TIMEOUT_MS = 30_000;
/** A connection is replaced after this time, in case its address leads to another server by then. */
const LIFETIME_SECONDS = 600;
/** The SQLSTATE of a write to a read-only server or session. */
const READ_ONLY = '25006';

/** Returns a pool of up to `max` connections. Waiting for one fails after two seconds. */
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

/** Closes each connection that has rejected a write: after a failover, its address may lead to another server. The pool keeps those of transactions. */
function leaveReadOnly(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    const end = (_error: unknown, released: pg.PoolClient) => {
      if (released === client) {
        pool.off('release', end);
        // The pool removes a connection that has ended.
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

/** Closes each connection with an overdue query. The driver's `query_timeout` leaves that of a transaction open, and burdens the garbage collector. */
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
