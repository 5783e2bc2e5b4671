import { Injectable } from '@nestjs/common';
import { Cleanup } from '../database/cleanup.js';
import { namedStatement, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';

const DELETE_EXPIRED = namedStatement(
  'delete-expired-responses',
  `DELETE FROM stored_responses WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM stored_responses
     WHERE stored_at <= statement_timestamp() + make_interval(secs => $2::float8 / 1000, hours => -24)
     ORDER BY stored_at LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING 1`,
);

/** Deletes stored responses that are older than 24 hours. */
@Injectable()
export class IdempotencyCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'responses', [{ statement: DELETE_EXPIRED }]);
  }
}
