import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { Recurring } from '../recurring.js';
import { UsageRepository } from './usage.repository.js';

const SWEEP_INTERVAL_MS = 60_000;

/** Has old usage removed from time to time. */
@Injectable()
export class UsageSweeper implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageSweeper.name);
  private readonly sweep: Recurring;

  constructor(repository: UsageRepository) {
    this.sweep = new Recurring(
      SWEEP_INTERVAL_MS,
      () => repository.sweep(),
      (error) => this.logger.warn(`Old usage was not removed: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.sweep.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.sweep.stop();
  }
}
