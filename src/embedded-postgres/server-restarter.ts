import { Logger } from '@nestjs/common';
import { type ServerConfig, startServer } from './postgres-server.js';
import { findPostmaster, type Postmaster } from './postmaster-pid.js';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** A running server: its process id, and the port that it keeps across restarts. */
export interface RunningServer {
  pid: number;
  port: number;
}

/** Restarts a server that has ended by itself. */
export class ServerRestarter {
  private readonly logger = new Logger('EmbeddedPostgres');
  private pauseMs = FIRST_PAUSE_MS;
  private notBeforeMs = 0;
  private starting: Promise<void> = Promise.resolve();
  private isOver = false;
  private hasEnded = false;

  /**
   * @param server updated with the new process id.
   * @param stopping once aborted, the server is not restarted.
   */
  constructor(
    private readonly config: ServerConfig,
    private readonly server: RunningServer,
    private readonly stopping?: AbortSignal,
  ) {}

  /** Restarts the server unless it runs. A failure is logged and followed by a pause, which doubles each time. */
  restartIfEnded(): Promise<void> {
    if (!this.isStopped) {
      this.starting = this.restart().catch((error: Error) => this.postpone(error.message));
    }
    return this.starting;
  }

  /** Prevents further restarts, and waits for the one in progress. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.starting;
  }

  private get isStopped(): boolean {
    return this.isOver || this.stopping?.aborted === true;
  }

  private async restart(): Promise<void> {
    const { clusterFolder } = this.config;
    const running = await findPostmaster(clusterFolder);
    if (running !== null) {
      this.adopt(running);
      return;
    }
    if (this.isStopped || performance.now() < this.notBeforeMs) {
      return;
    }
    this.hasEnded = true;
    this.logger.warn('The embedded PostgreSQL has ended and is restarted');
    const failure = await startServer(this.config, this.server.port);
    if (failure !== null) {
      this.postpone(failure);
      return;
    }
    const started = await findPostmaster(clusterFolder);
    if (started !== null) {
      this.adopt(started);
    }
  }

  /** Updates the process id. The server may also have started after an attempt that failed, and a stop must reach it. */
  private adopt({ pid, ready }: Postmaster): void {
    this.server.pid = pid;
    if (this.hasEnded && ready) {
      this.hasEnded = false;
      this.pauseMs = FIRST_PAUSE_MS;
      this.logger.warn('The embedded PostgreSQL runs again');
    }
  }

  private postpone(failure: string): void {
    this.logger.error(`The next attempt is in ${this.pauseMs / 1000} s. ${failure}`);
    this.notBeforeMs = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(2 * this.pauseMs, MAX_PAUSE_MS);
  }
}
