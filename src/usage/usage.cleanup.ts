import { Injectable } from '@nestjs/common';
import { Cleanup } from '../database/cleanup.js';
import { loadSql, namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { KEPT_HOURS, PERIODS } from './rules/periods.js';

const DELETE_AGGREGATED = namedStatement(
  'delete-aggregated-batches',
  `DELETE FROM usage_batches WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM usage_batches
     WHERE size = 0 AND written_at < statement_timestamp() + make_interval(secs => $2::float8 / 1000, hours => -1)
     LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING 1`,
);
const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-usage');

/** Deletes expired usage, and batches that were aggregated an hour ago. */
@Injectable()
export class UsageCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'usage', [
      { statement: DELETE_AGGREGATED },
      ...PERIODS.map((period) => ({ statement: DELETE_EXPIRED, values: [period, KEPT_HOURS[period]] })),
    ]);
  }
}
