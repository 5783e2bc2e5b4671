import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PeriodicTask } from './periodic-task.js';
import { databaseReason } from './availability.js';

/** A periodic task in the database, for as long as the service runs. It logs its failures. */
export abstract class PeriodicDatabaseTask implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(this.constructor.name);
  private readonly task: PeriodicTask;

  /**
   * @param work does a part, and returns whether there is more.
   * @param failure the log's text before the reason.
   */
  constructor(intervalMs: number, work: () => Promise<boolean>, failure: string) {
    this.task = new PeriodicTask(intervalMs, work, (error) =>
      this.logger.warn(`${failure}: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.task.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }
}
