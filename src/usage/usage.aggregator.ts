import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { UsageJournal } from './usage.journal.js';

/** The maximum delay between the end of a minute and its aggregation, by whichever replica runs first. */
const INTERVAL_MS = 5000;

/** Aggregates the journal after the end of each minute, so that it stays short even when usage is not read. */
@Injectable()
export class UsageAggregator extends PeriodicDatabaseTask {
  constructor(journal: UsageJournal) {
    super(INTERVAL_MS, () => journal.aggregateSome('this minute'), 'Usage stays in the journal for now');
  }
}
