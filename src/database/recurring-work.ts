import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PeriodicTask } from '../periodic-task.js';
import { databaseReason } from './availability.js';

/** Work in the database that is done from time to time, for as long as the service runs. A bout that fails is logged. */
export abstract class RecurringWork implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(this.constructor.name);
  private readonly recurring: PeriodicTask;

  /**
   * @param work does a part, and tells whether there is more.
   * @param failure what the log says before the reason.
   */
  constructor(intervalMs: number, work: () => Promise<boolean>, failure: string) {
    this.recurring = new PeriodicTask(intervalMs, work, (error) =>
      this.logger.warn(`${failure}: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.recurring.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.recurring.stop();
  }
}
