import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { UsageJournal } from './usage.journal.js';

/** How long after its end a minute is folded at the latest: by the replica that looks first. */
const LOOK_INTERVAL_MS = 5000;

/** Has the journal folded, minute by minute, also when nobody reads usage. */
@Injectable()
export class UsageFolder extends PeriodicDatabaseTask {
  constructor(journal: UsageJournal) {
    super(LOOK_INTERVAL_MS, () => journal.foldSome('this minute'), 'Usage stays in the journal for now');
  }
}
