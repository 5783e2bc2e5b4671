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
import type { Statement } from '../../database/access/statement.js';
import type { Environment } from '../../process/settings/environment.js';
import { CHECK_DEADLINE_MS, counterStoreError, DEADLINE_MS } from './counter-store.js';

/** It is longer than the deadline, so it ends only statements for whose reply nobody waits any more. */
const STATEMENT_TIMEOUT = { name: 'statement_timeout', value: '1s', accepted: '^1s$' };
/** The end of retries, early enough for the last one to end before the deadline. */
const RETRY_MS = 500;

/** The connection that counts. The first query opens it, and the first after a failure opens another. */
export class PostgresConnection {
  /** Null until a query needs one. */
  current: CountingConnection | null = null;
  private isClosed = false;

  /** @param quietMs the time without a reply after which a connection is checked. */
  constructor(
    private readonly environment: Environment,
    private readonly quietMs: number,
  ) {}

  /** @throws CounterStoreError */
  async query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    if (this.isClosed) {
      // A new connection would outlive the service.
      throw counterStoreError(new Error('The service is ending'), true);
    }
    let connection = this.open();
    const run = async () => {
      // A count may not be repeated, so a read checks whether a quiet connection is dead.
      if (!(await connection.responds(this.quietMs))) {
        this.lose(connection);
        connection = this.open();
      }
      return connection.query<Row>(statement, values);
    };
    try {
      return await withinDeadline(run(), DEADLINE_MS);
    } catch (error) {
      if (!isConflict(error) && !isRejectedValue(error) && !isSchemaFault(error)) {
        // After a failover, the address may lead to another server.
        this.lose(connection);
      }
      // A standby counts nothing: the store is elsewhere, and this address does not lead there.
      const isRefused = !connection.isOpen || isReadOnly(error);
      throw counterStoreError(error, !isRefused);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.current?.end();
  }

  private open(): CountingConnection {
    this.current ??= new CountingConnection(this.environment, (lost) => this.forget(lost));
    return this.current;
  }

  private lose(connection: CountingConnection): void {
    this.forget(connection);
    connection.destroy();
  }

  private forget(connection: CountingConnection): void {
    if (this.current === connection) {
      this.current = null;
    }
  }
}

/**
 * A connection with `synchronous_commit = off`: counting is several times faster, and risks only the counts
 * of a crashed server's last moments. On a shared connection it would risk animals too.
 */
export class CountingConnection {
  isOpen = false;
  /** It can be destroyed; an orderly end would wait for a server that may be gone. */
  private readonly socket = new net.Socket();
  private readonly client: pg.Client;
  private readonly connectionString: string | undefined;
  private readonly isDirect: Promise<boolean>;
  /** The last query, for which the next one waits: `pg` takes one at a time. */
  private last: Promise<unknown> = Promise.resolve();
  private lastReplyMs = performance.now();

  /** @param onLost runs when the connection fails or ends, perhaps more than once. */
  constructor(
    { DIRECT_DATABASE_URL, DATABASE_URL }: Environment,
    onLost: (connection: CountingConnection) => void,
  ) {
    // Behind a pooler, settings and prepared statements would not belong to the connection.
    this.connectionString = DIRECT_DATABASE_URL ?? DATABASE_URL;
    this.client = new pg.Client({
      connectionString: this.connectionString,
      application_name: 'animal-store counters',
      ...KEEP_ALIVE,
      stream: () => this.socket,
    });
    // The query in flight rejects with the same error.
    this.client.on('error', () => onLost(this));
    this.client.on('end', () => onLost(this));
    this.isDirect = this.open();
  }

  async query<Row extends pg.QueryResultRow>(
    { preparedName, text }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    // A pooler shares prepared statements among its clients.
    const name = (await this.isDirect) ? preparedName : undefined;
    const endMs = performance.now() + RETRY_MS;
    const result = this.last.then(() => retryConflicts(() => this.run<Row>({ name, text, values }), endMs));
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Returns false if it leaves a read without a reply, after `quietMs` without one. */
  async responds(quietMs: number): Promise<boolean> {
    if (!this.isOpen || performance.now() - this.lastReplyMs < quietMs) {
      return true;
    }
    const check = this.run({ text: 'SELECT 1' });
    return withinDeadline(check, CHECK_DEADLINE_MS).then(
      () => true,
      () => false,
    );
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Ends in order, within the deadline: the server may be gone. */
  async end(): Promise<void> {
    this.socket.unref();
    await withinDeadline(this.client.end(), DEADLINE_MS).catch(() => {});
  }

  private async open(): Promise<boolean> {
    await this.client.connect();
    this.isOpen = true;
    const commit = { name: 'synchronous_commit', value: 'off', accepted: '^off$' };
    return configureSession(this.client, this.connectionString, commit, STATEMENT_TIMEOUT);
  }

  /**
   * Runs a query by callback: what the driver keeps of a query by promise makes garbage collections take
   * several times as long.
   */
  private run<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.client.query<Row>(query, (error, result) => {
        this.lastReplyMs = performance.now();
        return error ? reject(error) : resolve(result.rows);
      });
    });
  }
}
