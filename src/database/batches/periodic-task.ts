import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../access/availability.js';
import { withLastStart } from '../access/request-deadline.js';

/** Runs work at an interval, one run at a time, each for as long as there is more to do. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private running: Promise<void> | null = null;

  /**
   * @param work does a part, and returns whether there is more.
   * @param failed receives the error of a run, unless the task is stopped.
   */
  constructor(
    private readonly intervalMs: number,
    private readonly work: () => Promise<boolean>,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.runNow(), this.intervalMs).unref();
  }

  /** Starts a run, unless one is in flight. It has no deadline, even if a request causes it. */
  runNow(): void {
    this.running ??= withLastStart(Infinity, () => this.run()).finally(() => {
      this.running = null;
    });
  }

  /** Resolves when no run is in flight: a later query would connect Prisma again. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      let more = true;
      while (more && !this.isStopped) {
        more = await this.work();
      }
    } catch (error) {
      if (!this.isStopped) {
        this.failed(error);
      }
    }
  }
}

/**
 * A periodic task in the database, for as long as the service runs. It logs the first of several failures in
 * a row.
 */
export abstract class PeriodicDatabaseTask implements OnModuleInit, OnApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected readonly task: PeriodicTask;

  /**
   * @param work does a part, and returns whether there is more.
   * @param failure the log's text before the reason.
   */
  constructor(intervalMs: number, work: () => Promise<boolean>, failure: string) {
    let isFailing = false;
    const run = async () => {
      const more = await work();
      isFailing = false;
      return more;
    };
    this.task = new PeriodicTask(intervalMs, run, (error) => {
      if (!isFailing) {
        this.logger.warn(`${failure}: ${databaseReason(error)}`);
      }
      isFailing = true;
    });
  }

  onModuleInit(): void {
    this.task.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }
}
