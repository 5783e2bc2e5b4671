import { Injectable } from '@nestjs/common';
import { Cleanup } from '../database/cleanup.js';
import { namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';

const DELETE_OLD = namedStatement(
  'delete-old-deliveries',
  `DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM webhook_deliveries
     WHERE state <> 'pending' AND kept_until < statement_timestamp() + make_interval(secs => $2::float8 / 1000)
     LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING 1`,
);

/** Deletes deliveries that are no longer shown, and whose events happen no more. */
@Injectable()
export class WebhookCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'webhook deliveries', [{ statement: DELETE_OLD }]);
  }
}
