import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { KEEP_ALIVE } from '../database/access/connection-pool.js';
import { configureSession } from '../database/access/session.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';

/** The triggers on keys, quotas and plans notify this channel of each committed change. */
const CHANNEL = 'animal_store_keys';
const ECHO_INTERVAL_MS = 300;
/** A change must apply within a second; the rest of it is for the last request served from the cache. */
const ECHO_LIFE_MS = 800;
const CONNECT_TIMEOUT_MS = 2000;
const RETRY_INTERVAL_MS = 1000;

/**
 * Receives every change of keys, quotas and plans, and reports how current it is.
 *
 * PostgreSQL sends a session the notifications of all commits before the result of a later query. So once an
 * echo returns, every change before the echo was sent has been received. A half-open connection or a
 * suspended process has no recent echo; then cached keys do not count, and every key is looked up.
 */
@Injectable()
export class ApiKeyChangeListener extends PeriodicTask {
  /** Grows with each change, and with each new connection, because changes before it were missed. */
  generation = 0;
  /** The time until which keys of this generation may be used, by the monotonic clock. */
  currentUntilMs = -Infinity;
  private socket: net.Socket | null = null;

  constructor(
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'DATABASE_URL' | 'DIRECT_DATABASE_URL'>,
  ) {
    super(RETRY_INTERVAL_MS, () => this.listen(), 'Key changes are not received, so every key is looked up');
  }

  /** Does not wait for the connection: until it is open, every key is looked up. */
  override onModuleInit(): void {
    super.onModuleInit();
    this.runNow();
  }

  override async onApplicationShutdown(): Promise<void> {
    const stopped = super.onApplicationShutdown();
    this.socket?.destroy();
    await stopped;
  }

  /** Milliseconds since the last echo that returned was sent; infinite before the first. */
  get ageMs(): number {
    return performance.now() - this.currentUntilMs + ECHO_LIFE_MS;
  }

  get isCurrent(): boolean {
    return performance.now() < this.currentUntilMs;
  }

  /** Listens on one connection for as long as it responds. */
  private async listen(): Promise<never> {
    // An orderly end would wait for a peer that may be gone, so the socket is destroyed; an abort signal
    // would retain every socket.
    const socket = new net.Socket();
    this.socket = socket;
    const connectionString = this.environment.DIRECT_DATABASE_URL ?? this.environment.DATABASE_URL;
    const client = new pg.Client({
      connectionString,
      application_name: 'animal-store key changes',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ECHO_LIFE_MS,
      ...KEEP_ALIVE,
      stream: () => socket,
    });
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('notification', () => (this.generation += 1));
    try {
      await client.connect();
      await configureSession(client, connectionString);
      // Before LISTEN, which a pooler would leave on a connection of other clients.
      await echo(client);
      await client.query(`LISTEN ${CHANNEL}`);
      this.generation += 1;
      for (;;) {
        const sentMs = performance.now();
        await echo(client);
        this.currentUntilMs = sentMs + ECHO_LIFE_MS;
        if (this.isFailing) {
          this.isFailing = false;
          this.logger.warn('Key changes are received again');
        }
        const restMs = Math.max(0, sentMs + ECHO_INTERVAL_MS - performance.now());
        await pause(restMs, undefined, { ref: false, signal: lost.signal });
      }
    } catch (error) {
      lost.signal.throwIfAborted();
      throw error;
    } finally {
      socket.destroy();
    }
  }
}

/**
 * Waits for a response of the server process that the connection was opened to. A pooler would use another
 * process, and lose the notifications of the one that listens.
 *
 * @throws Error behind a pooler.
 */
async function echo(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  // From the message BackendKeyData (PostgreSQL, "Message Formats"); the types of pg lack it.
  const { processID } = client as pg.Client & { processID: number | null };
  if (rows[0]?.pid !== processID) {
    throw new Error(
      "a pooler is in the way; DIRECT_DATABASE_URL must be the address of PostgreSQL itself, not a pooler's",
    );
  }
}
