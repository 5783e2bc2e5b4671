import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../../database/periodic-task.js';
import { loadSql, QueryRunner } from '../../database/query-runner.js';
import { Clock } from '../../settings/clock.js';

const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-counters');
const INTERVAL_MS = 60_000;
/** The maximum rows that one statement deletes, so that counting never waits long for it. */
const DELETE_BATCH = 5_000;

/** Deletes the counters of PostgreSQL whose windows are over, once a minute. */
@Injectable()
export class CounterCleanup extends PeriodicDatabaseTask {
  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), 'Expired counters were not deleted');
  }

  /**
   * Deletes one batch.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    const deleted = await this.queries.run(DELETE_EXPIRED, [this.clock.storeOffsetMs, DELETE_BATCH]);
    return deleted.length === DELETE_BATCH;
  }
}
