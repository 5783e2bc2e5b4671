import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { UsageRepository } from './usage.repository.js';

const SWEEP_INTERVAL_MS = 60_000;

/** Has old usage removed from time to time. */
@Injectable()
export class UsageSweeper extends PeriodicDatabaseTask {
  constructor(repository: UsageRepository) {
    super(SWEEP_INTERVAL_MS, () => repository.sweep(), 'Old usage was not removed');
  }
}
