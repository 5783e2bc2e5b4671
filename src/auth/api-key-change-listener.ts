import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import pg from 'pg';
import { databaseReason } from '../database/availability.js';
import { configureSession } from '../database/session.js';
import { ENVIRONMENT, type Environment } from '../environment.js';

/** Where the triggers on keys, quotas and plans tell of a change, when it is committed. */
const CHANNEL = 'animal_store_keys';
const ECHO_INTERVAL_MS = 300;
/** A change must hold within a second; the rest of it is for the request that asks last. */
const ECHO_LIFE_MS = 800;
const CONNECT_TIMEOUT_MS = 2000;
const RETRY_INTERVAL_MS = 1000;

/**
 * Hears of every change of keys, quotas and plans, by whomever it is made, and knows whether it hears.
 *
 * PostgreSQL sends a session the notices of all commits before the answer to a later question. So once an echo is
 * answered, every change before it was asked for has been told. A connection that is half open, or a process that
 * slept, has no young echo, and then nothing that is remembered counts: keys are looked up, slower but right.
 */
@Injectable()
export class ApiKeyChangeListener implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ApiKeyChangeListener.name);
  private readonly stopping = new AbortController();
  private running = Promise.resolve();
  private socket: net.Socket | null = null;
  private changes = 0;
  /** When the last echo that was answered was asked for, by the monotonic clock. */
  private echoAskedMs = -Infinity;
  private isLossLogged = false;

  constructor(
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'DATABASE_URL' | 'DIRECT_DATABASE_URL'>,
  ) {}

  /** Does not wait for the connection: until it stands, every key is looked up. */
  onModuleInit(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.socket?.destroy();
    await this.running;
  }

  /** Grows with each change, and with each new connection, as changes before it went unheard. */
  get generation(): number {
    return this.changes;
  }

  /** How old what is known of changes is, in milliseconds; infinite before the first echo. */
  get ageMs(): number {
    return performance.now() - this.echoAskedMs;
  }

  /** Whether what was asked of the database in this generation still holds. */
  holds(generation: number): boolean {
    return generation === this.changes && this.ageMs < ECHO_LIFE_MS;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.listen().catch((error: unknown) => this.logLoss(error));
      await pause(RETRY_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /**
   * Listens on one connection for as long as it answers.
   *
   * @throws why it ended.
   */
  private async listen(): Promise<never> {
    // Ours to destroy: an orderly end would wait for a peer that may be gone. Not by the signal, which would keep every one.
    const socket = new net.Socket();
    this.socket = socket;
    const client = new pg.Client({
      connectionString: this.environment.DIRECT_DATABASE_URL ?? this.environment.DATABASE_URL,
      application_name: 'animal-store key changes',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ECHO_LIFE_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const lost = new Promise<never>((_resolve, reject) => client.on('error', reject));
    // The question that is under way tells it as well, and it may come after the end.
    lost.catch(() => {});
    client.on('notification', () => this.forget());
    try {
      await client.connect();
      await configureSession(client);
      // Before LISTEN, which a pooler would leave behind on a connection that it lends to others.
      await echo(client);
      await client.query(`LISTEN ${CHANNEL}`);
      this.forget();
      for (;;) {
        const askedMs = performance.now();
        await echo(client);
        this.echoAskedMs = askedMs;
        this.logReturn();
        const restMs = Math.max(0, askedMs + ECHO_INTERVAL_MS - performance.now());
        await Promise.race([lost, pause(restMs, undefined, { ref: false })]);
      }
    } finally {
      socket.destroy();
    }
  }

  private forget(): void {
    this.changes += 1;
  }

  /** One line for each loss, however many attempts it lasts. */
  private logLoss(error: unknown): void {
    if (!this.isLossLogged && !this.stopping.signal.aborted) {
      this.isLossLogged = true;
      this.logger.warn(`Changes of keys are not heard, so every key is looked up: ${databaseReason(error)}`);
    }
  }

  private logReturn(): void {
    if (this.isLossLogged) {
      this.isLossLogged = false;
      this.logger.warn('Changes of keys are heard again');
    }
  }
}

/**
 * Has the server answer. It must be the process that the connection was opened to: a pooler asks another, and loses
 * the notices of the one that listens.
 *
 * @throws Error when it is another, or when there is no answer.
 */
async function echo(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  // Of the message BackendKeyData (PostgreSQL, "Message Formats"); not among the types of pg.
  const { processID } = client as pg.Client & { processID: number | null };
  if (rows[0]?.pid !== processID) {
    throw new Error(
      "a pooler is in the way; DIRECT_DATABASE_URL must be the address of PostgreSQL itself, not a pooler's",
    );
  }
}
