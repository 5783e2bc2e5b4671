import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { KEPT_HOURS, PERIODS } from './rules/periods.js';

const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-usage');
const INTERVAL_MS = 60_000;
/** The maximum rows that one statement deletes, so that aggregation never waits long for it. */
const DELETE_BATCH = 5_000;

/** Deletes expired usage once a minute. */
@Injectable()
export class UsageCleanup extends PeriodicDatabaseTask {
  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), 'Expired usage was not deleted');
  }

  /**
   * Deletes one batch of each period.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    let more = false;
    for (const period of PERIODS) {
      const values = [period, KEPT_HOURS[period], this.clock.storeOffsetMs, DELETE_BATCH];
      const deleted = await this.queries.run(DELETE_EXPIRED, values);
      more ||= deleted.length === DELETE_BATCH;
    }
    return more;
  }
}
