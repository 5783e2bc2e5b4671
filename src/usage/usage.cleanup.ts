import { Injectable } from '@nestjs/common';
import { Cleanup } from '../database/cleanup.js';
import { namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { KEPT_HOURS, PERIODS } from './rules/periods.js';

const hoursAgo = (hours: number) =>
  `statement_timestamp() + make_interval(secs => $2::float8 / 1000, hours => -${hours})`;

/** Locked rows are skipped, so that a deletion takes part in no deadlock. */
const deletion = (table: string, condition: string) => ({
  statement: namedStatement(
    `delete-expired-${table}`,
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table} WHERE ${condition} LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING 1`,
  ),
});

/** Deletes usage of periods that ended longer ago than they are kept, and batches that were aggregated an hour ago. */
@Injectable()
export class UsageCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'usage', [
      deletion('usage_batches', `size = 0 AND written_at < ${hoursAgo(1)}`),
      ...PERIODS.map((period) =>
        deletion(
          'usage',
          `period = '${period}' AND starts_at < date_trunc('${period}', ${hoursAgo(KEPT_HOURS[period])}, 'UTC')`,
        ),
      ),
    ]);
  }
}
