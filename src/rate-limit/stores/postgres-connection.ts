import net from 'node:net';
import pg from 'pg';
import { isConflict } from '../../database/availability.js';
import { configureSession } from '../../database/session.js';
import type { Environment } from '../../settings/environment.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { DeadlineError, withinDeadline } from '../rules/deadline.js';

/** For a query, and for the connection if there is none yet. */
export const DEADLINE_MS = 750;
/** Before the deadline, so that the server reports it: then nothing was counted. */
export const STATEMENT_TIMEOUT_MS = 500;

/** The SQLSTATE of a statement that took too long, which its connection survives. */
const QUERY_CANCELED = '57014';

export interface OpenConnection {
  client: pg.Client;
  /** Whether a pooler shares the server's connections, and so their prepared statements, among its clients. */
  isPooled: boolean;
}

/** The connection that counts, replaced once it is lost. */
export class PostgresConnection {
  /** Null until a query needs one. */
  current: Promise<OpenConnection> | null = null;
  private isClosed = false;

  constructor(private readonly environment: Environment) {}

  /** Returns the connection, and opens one if there is none. */
  open(): Promise<OpenConnection> {
    if (this.isClosed) {
      // A new connection would outlive the service.
      return Promise.reject(new Error('The service is ending'));
    }
    if (this.current === null) {
      const connection = openCounting(this.environment, () => this.forget(connection));
      this.current = connection;
    }
    return this.current;
  }

  /** Ends the connection of a failed query, except after an error that it survives. */
  abandon(connection: Promise<OpenConnection>, { kind, code }: CounterStoreError): void {
    if (kind === 'conflict' || code === QUERY_CANCELED) {
      return;
    }
    // A statement in flight would delay the next one, and after a failover the name may lead to another server.
    this.forget(connection);
    connection.then(
      ({ client }) => client.end(),
      () => {},
    );
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const connection = this.current;
    this.current = null;
    await connection?.then(({ client }) => endConnection(client)).catch(() => {});
  }

  private forget(connection: Promise<OpenConnection>): void {
    if (this.current === connection) {
      this.current = null;
    }
  }
}

/** Returns the error for a caller, with what is certain about the outcome. */
export function postgresFailure(error: unknown, isSent: boolean): CounterStoreError {
  return new CounterStoreError(kindOf(error, isSent), error);
}

function kindOf(error: unknown, isSent: boolean): FailureKind {
  if (isConflict(error)) {
    return 'conflict';
  }
  if (isSent) {
    return error instanceof pg.DatabaseError && error.severity !== 'FATAL' ? 'failed' : 'outcomeUnknown';
  }
  return error instanceof DeadlineError ? 'failed' : 'noConnection';
}

/**
 * Opens a connection with `synchronous_commit = off`: counting is several times faster, and risks only the counts of a crashed
 * server's last moments. On a shared connection it would risk animals too.
 *
 * @param onLost runs when the connection cannot be opened, fails or ends, perhaps more than once.
 * @throws DeadlineError, or the driver's error.
 */
async function openCounting(environment: Environment, onLost: () => void): Promise<OpenConnection> {
  // It can be destroyed; an orderly end would wait for a server that may be gone.
  const socket = new net.Socket();
  const client = new pg.Client({
    connectionString: directUrl(environment),
    application_name: 'animal-store counters',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    stream: () => socket,
  });
  // The query in flight rejects with the same error.
  client.on('error', onLost);
  client.on('end', onLost);
  const open = async () => {
    await client.connect();
    const isDirect = await configureSession(client, { synchronous_commit: 'off' });
    return { client, isPooled: !isDirect };
  };
  try {
    return await withinDeadline(open(), DEADLINE_MS);
  } catch (error) {
    onLost();
    socket.destroy();
    throw error;
  }
}

/** Returns the options of any other connection to the counters, each of whose statements has this timeout. */
export function connectionOptions(
  environment: Environment,
  name: string,
  timeoutMs: number,
): pg.ClientConfig {
  return {
    connectionString: directUrl(environment),
    application_name: `animal-store ${name}`,
    connectionTimeoutMillis: DEADLINE_MS,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
  };
}

/** Ends a connection in order, within the deadline: the server may be gone. */
export async function endConnection(client: pg.Client): Promise<void> {
  // Not among the types of pg.
  (client as pg.Client & { unref(): void }).unref();
  await withinDeadline(client.end(), DEADLINE_MS).catch(() => {});
}

/** Returns the URL past a pooler: behind one, settings and prepared statements would not belong to the connection. */
function directUrl({ DIRECT_DATABASE_URL, DATABASE_URL }: Environment): string | undefined {
  return DIRECT_DATABASE_URL ?? DATABASE_URL;
}
