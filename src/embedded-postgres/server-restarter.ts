import { Logger } from '@nestjs/common';
import { type ServerPlace, startServer } from './postgres-server.js';
import { findPostmaster, type Postmaster } from './postmaster-pid.js';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** A running server: its process, and the port that it keeps over restarts. */
export interface RunningServer {
  pid: number;
  port: number;
}

/** Starts a server again when it has ended by itself. */
export class ServerRestarter {
  private readonly logger = new Logger('EmbeddedPostgres');
  private pauseMs = FIRST_PAUSE_MS;
  private notBeforeMs = 0;
  private starting: Promise<void> = Promise.resolve();
  private isOver = false;
  private hasEnded = false;

  /**
   * @param server is updated with the new process id.
   * @param stopping once aborted, nothing is started any more.
   */
  constructor(
    private readonly place: ServerPlace,
    private readonly server: RunningServer,
    private readonly stopping?: AbortSignal,
  ) {}

  /** Starts the server unless it runs. After a failure, which is logged, it waits for a pause that doubles each time. */
  restartIfEnded(): Promise<void> {
    if (!this.isStopped) {
      this.starting = this.restart().catch((error: Error) => this.postpone(error.message));
    }
    return this.starting;
  }

  /** Waits for a start that is under way; none follows. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.starting;
  }

  private get isStopped(): boolean {
    return this.isOver || this.stopping?.aborted === true;
  }

  private async restart(): Promise<void> {
    const { clusterFolder } = this.place;
    const running = await findPostmaster(clusterFolder);
    if (running !== null) {
      this.adopt(running);
      return;
    }
    if (this.isStopped || performance.now() < this.notBeforeMs) {
      return;
    }
    this.hasEnded = true;
    this.logger.warn('The embedded PostgreSQL has ended, and is started again');
    const failure = await startServer(this.place, this.server.port);
    if (failure !== null) {
      this.postpone(failure);
      return;
    }
    const started = await findPostmaster(clusterFolder);
    if (started !== null) {
      this.adopt(started);
    }
  }

  /** Updates the process id, also of a server that came up after a try that failed, so that a stop stops it. */
  private adopt({ pid, ready }: Postmaster): void {
    this.server.pid = pid;
    if (this.hasEnded && ready) {
      this.hasEnded = false;
      this.pauseMs = FIRST_PAUSE_MS;
      this.logger.warn('The embedded PostgreSQL runs again');
    }
  }

  private postpone(failure: string): void {
    this.logger.error(`The next try is in ${this.pauseMs / 1000} s. ${failure}`);
    this.notBeforeMs = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
  }
}
