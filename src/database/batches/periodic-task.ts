import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../access/availability.js';
import { withLastStart } from '../access/request-deadline.js';

/**
 * Work in the database at an interval, one run at a time, for as long as the service runs. Logs the first of
 * several failures in a row.
 */
export abstract class PeriodicTask implements OnModuleInit, OnApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** Whether the work failed last, and has not succeeded since. */
  protected isFailing = false;
  /** The run in flight. */
  protected running: Promise<void> | null = null;

  /**
   * @param work does a part; a run repeats it while it returns true, because there is more to do.
   * @param failure the log's text before the reason.
   */
  constructor(
    private readonly intervalMs: number,
    private readonly work: () => Promise<boolean | void>,
    private readonly failure: string,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => this.runNow(), this.intervalMs).unref();
  }

  /** Waits for a run in flight: a later query would connect Prisma again. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Starts a run, unless one is in flight. It has no deadline, even if a request causes it. */
  runNow(): void {
    this.running ??= withLastStart(Infinity, () => this.run()).finally(() => {
      this.running = null;
    });
  }

  private async run(): Promise<void> {
    try {
      while (!this.isStopped && (await this.work()) === true) {
        // There is more to do.
      }
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing && !this.isStopped) {
        this.logger.warn(`${this.failure}: ${databaseReason(error)}`);
      }
      this.isFailing = true;
    }
  }
}
