import { once } from 'node:events';
import net from 'node:net';
import pg from 'pg';
import {
  isConflict,
  isReadOnly,
  isRejectedValue,
  isSchemaFault,
} from '../../database/access/availability.js';
import { KEEP_ALIVE } from '../../database/access/connection-pool.js';
import { withinDeadline } from '../../database/access/deadline.js';
import { retryConflicts } from '../../database/access/retry-conflicts.js';
import { configureSession } from '../../database/access/session.js';
import { UnavailableError } from '../../database/access/unavailable-error.js';
import type { Statement } from '../../database/access/statement.js';
import type { Environment } from '../../process/settings/environment.js';
import { CHECK_DEADLINE_MS, counterStoreError, REPLY_DEADLINE_MS } from './counter-store.js';

const SETTINGS = [
  { name: 'synchronous_commit', value: 'off', accepted: '^off$' },
  // Longer than the deadline, so it ends only statements whose reply nobody waits for.
  { name: 'statement_timeout', value: '1s', accepted: '^1s$' },
];
/** The end of retries, early enough for the last one to end before the deadline. */
const RETRY_MS = 500;

/**
 * The connection that counts, with `synchronous_commit = off`: counting is several times faster, and risks
 * only the counts of a crashed server's last moments. On a shared connection it would risk animals too.
 */
export class PostgresConnection {
  private readonly pool: pg.Pool;
  /** Of the pool's one connection. If that hangs, an orderly end would wait for the server. */
  private socket: net.Socket | undefined;
  private isOpen = false;
  private isDirect = false;
  private lastReplyMs = 0;

  constructor(
    { DIRECT_DATABASE_URL, DATABASE_URL }: Environment,
    private readonly quietMs: number,
  ) {
    // Behind a pooler, settings and prepared statements would not belong to the connection.
    const connectionString = DIRECT_DATABASE_URL ?? DATABASE_URL;
    // The pool waits for it, though its type does not show that.
    const onConnect = (async (client) => {
      this.isOpen = true;
      this.lastReplyMs = performance.now();
      this.isDirect = await configureSession(client, connectionString, ...SETTINGS);
    }) as (client: pg.ClientBase) => void;
    this.pool = new pg.Pool({
      connectionString,
      application_name: 'animal-store counters',
      max: 1,
      idleTimeoutMillis: 0,
      ...KEEP_ALIVE,
      stream: () => {
        this.isOpen = false;
        return (this.socket = new net.Socket());
      },
      onConnect,
    });
    // The query in flight, or the next one, rejects with the same error.
    this.pool.on('error', () => {});
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  async query<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[],
    deadlineMs = REPLY_DEADLINE_MS,
  ): Promise<Row[]> {
    let hasEnded = false;
    const run = this.run<Row>(statement, values).finally(() => (hasEnded = true));
    try {
      return await withinDeadline(run, deadlineMs);
    } catch (error) {
      const failure = this.toFailure(error);
      if (!hasEnded) {
        this.socket?.destroy();
      }
      throw failure;
    }
  }

  private toFailure(error: unknown): UnavailableError {
    if (error instanceof UnavailableError) {
      return error;
    }
    // A standby counts nothing, so the store is elsewhere.
    const isRefused = !this.pool.ending && (!this.isOpen || isReadOnly(error));
    return counterStoreError(error, !isRefused);
  }

  /** Waits for an orderly end no longer than the deadline: the server may be gone. */
  async close(): Promise<void> {
    const isClosed = this.pool.totalCount === 0 ? undefined : once(this.pool, 'remove');
    await withinDeadline(Promise.all([this.pool.end(), isClosed]), REPLY_DEADLINE_MS).catch(() => {});
    this.socket?.destroy();
  }

  private async run<Row extends pg.QueryResultRow>(
    { preparedName, text }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    const client = await this.borrow();
    // A pooler shares prepared statements among its clients.
    const name = this.isDirect ? preparedName : undefined;
    const endMs = performance.now() + RETRY_MS;
    try {
      const rows = await retryConflicts(() => this.send<Row>(client, { name, text, values }), endMs);
      client.release();
      return rows;
    } catch (error) {
      // Before the release, which may open the next connection for a query that waits.
      const failure = this.toFailure(error);
      client.release(isOfConnection(error));
      throw failure;
    }
  }

  /** A count may not be repeated, so a read checks whether a quiet connection is dead. */
  private async borrow(): Promise<pg.PoolClient> {
    const client = await this.pool.connect();
    try {
      if (performance.now() - this.lastReplyMs >= this.quietMs) {
        await withinDeadline(this.send(client, { text: 'SELECT 1' }), CHECK_DEADLINE_MS);
      }
      return client;
    } catch {
      client.release(true);
      return this.pool.connect();
    }
  }

  /**
   * Runs a query by callback: what the driver keeps of a query by promise makes garbage collections take
   * several times as long.
   */
  private send<Row extends pg.QueryResultRow>(client: pg.PoolClient, query: pg.QueryConfig): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      client.query<Row>(query, (error, result) => {
        this.lastReplyMs = performance.now();
        return error ? reject(error) : resolve(result.rows);
      });
    });
  }
}

/** Returns whether a new connection may do better, because its address may lead to another server. */
function isOfConnection(error: unknown): boolean {
  return !isConflict(error) && !isRejectedValue(error) && !isSchemaFault(error);
}
