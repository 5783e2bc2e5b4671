import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { lockServer } from './owner-lock.js';
import { ensureCluster, urlOf } from './postgres-cluster.js';
import { startServer, stopServer } from './postgres-server.js';
import { findPostmaster, type Postmaster } from './postmaster-pid.js';
import type { ServerConfig } from './server-config.js';

/** A running server, and the connection that holds its owner lock. */
export interface OwnedServer extends Postmaster {
  lock: pg.Client;
}

/** The database of the owner lock, which every cluster has. */
const LOCK_DATABASE = 'postgres';
const START_TIMEOUT_MS = 60_000;
const RETRY_MS = 50;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** Code and message of a failed connection to a server that starts, recovers, stops or is full. */
const NOT_ACCEPTING =
  /^(53300|57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE) |Connection terminated|not queryable$|timeout expired$/;
/** Message of a failed start if another server was starting or stopping, or another program took the port. */
const START_CONFLICT =
  /could not bind|lock file .* (already exists|is empty)|pre-existing shared memory block/;

/** Keeps the PostgreSQL of a data folder running and locked for this process, until it is stopped. */
export class ServerOwner {
  private readonly logger = new Logger('EmbeddedPostgres');
  private readonly halt = new AbortController();
  private server: OwnedServer | null = null;
  private recovery: Promise<void> = Promise.resolve();

  /** @param stopping once aborted, the server is not restarted. */
  constructor(
    private readonly config: ServerConfig,
    stopping?: AbortSignal,
  ) {
    stopping?.addEventListener('abort', () => this.halt.abort());
  }

  /**
   * Starts the server unless it runs, and locks it. Does so again once the connection of the lock ends, by itself or with the server.
   *
   * @param port a free port by default.
   * @throws EmbeddedPostgresError if another process owns the server, or it cannot be started.
   */
  async acquire(port?: number): Promise<OwnedServer> {
    const server = await startAndLock(this.config, port);
    this.server = server;
    server.lock.once('end', () => {
      this.server = null;
      this.recovery = this.recover(server);
    });
    return server;
  }

  /**
   * Stops the server, unless another process owns it by now.
   *
   * @throws EmbeddedPostgresError if the server does not stop in time.
   */
  async stop(): Promise<void> {
    this.halt.abort();
    await this.recovery;
    const server = this.server ?? (await lockRunning(this.config).catch(() => null));
    if (server === null) {
      return;
    }
    try {
      // Before the lock is released, so that no process takes over a stopping server.
      await stopServer(this.config, server.pid);
    } finally {
      await server.lock.end().catch(() => undefined);
    }
  }

  /** Acquires the server again. A failure is logged and followed by a pause, which doubles each time. */
  private async recover(lost: OwnedServer): Promise<void> {
    const { signal } = this.halt;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        const { pid } = await this.acquire(lost.port);
        if (pid !== lost.pid) {
          this.logger.warn('The embedded PostgreSQL ended and was restarted');
        }
        return;
      } catch (error) {
        this.logger.error(`The next attempt is in ${pauseMs / 1000} s. ${(error as Error).message}`);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

async function startAndLock(config: ServerConfig, port?: number): Promise<OwnedServer> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      const server = await lockRunning(config);
      if (server !== null) {
        return server;
      }
      await ensureCluster(config);
      await startServer(config, port);
    } catch (error) {
      if (!isTemporary(error) || Date.now() > deadline) {
        throw error;
      }
      await sleep(RETRY_MS);
    }
  }
}

/** Returns null if no server runs. */
async function lockRunning({ clusterFolder }: ServerConfig): Promise<OwnedServer | null> {
  const postmaster = await findPostmaster(clusterFolder);
  if (postmaster === null) {
    return null;
  }
  const lock = await lockServer(await urlOf(clusterFolder, postmaster.port, LOCK_DATABASE));
  return { ...postmaster, lock };
}

function isTemporary(error: unknown): boolean {
  const { code, message } = error as Error & { code?: string };
  return NOT_ACCEPTING.test(`${code} ${message}`) || START_CONFLICT.test(message);
}
