import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { UsageRepository } from './usage.repository.js';

const INTERVAL_MS = 60_000;

/** Deletes expired usage once a minute. */
@Injectable()
export class UsageCleanup extends PeriodicDatabaseTask {
  constructor(repository: UsageRepository) {
    super(INTERVAL_MS, () => repository.deleteExpired(), 'Expired usage was not deleted');
  }
}
