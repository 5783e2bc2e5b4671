import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { loadSql, namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { KEPT_HOURS, PERIODS } from './rules/periods.js';

const DELETE_AGGREGATED = namedStatement(
  'delete-aggregated-batches',
  `DELETE FROM usage_batches
   WHERE size = 0 AND written_at < statement_timestamp() + make_interval(secs => $1::float8 / 1000, hours => -1)`,
);
const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-usage');
const INTERVAL_MS = 60_000;
/** The maximum rows that one statement deletes, so that aggregation never waits long for it. */
const DELETE_BATCH = 5_000;

/** Deletes expired usage, and batches that were aggregated, once a minute. */
@Injectable()
export class UsageCleanup extends PeriodicDatabaseTask {
  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), 'Expired usage was not deleted');
  }

  /**
   * Deletes aggregated batches, and a part of each period.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    await this.queries.run(DELETE_AGGREGATED, [this.clock.storeOffsetMs]);
    let more = false;
    for (const period of PERIODS) {
      const values = [period, KEPT_HOURS[period], this.clock.storeOffsetMs, DELETE_BATCH];
      const deleted = await this.queries.run(DELETE_EXPIRED, values);
      more ||= deleted.length === DELETE_BATCH;
    }
    return more;
  }
}
