import { Injectable } from '@nestjs/common';
import { RecurringWork } from '../database/recurring-work.js';
import { IdempotencyStore } from './idempotency.store.js';

const INTERVAL_MS = 60_000;

/** Deletes expired responses once a minute. */
@Injectable()
export class IdempotencyCleanup extends RecurringWork {
  constructor(store: IdempotencyStore) {
    super(INTERVAL_MS, () => store.deleteExpired(), 'Expired responses were not deleted');
  }
}
