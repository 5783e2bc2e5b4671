import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { Recurring } from '../recurring.js';
import { UsageJournal } from './usage.journal.js';

/** How long after its end a minute is folded at the latest: by the replica that looks first. */
const LOOK_INTERVAL_MS = 5000;

/** Has the journal folded, minute by minute, also when nobody reads usage. */
@Injectable()
export class UsageFolder implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageFolder.name);
  private readonly fold: Recurring;

  constructor(journal: UsageJournal) {
    this.fold = new Recurring(
      LOOK_INTERVAL_MS,
      () => journal.foldSome('this minute'),
      (error) => this.logger.warn(`Usage stays in the journal for now: ${databaseReason(error)}`),
    );
  }

  onModuleInit(): void {
    this.fold.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.fold.stop();
  }
}
