import { Injectable } from '@nestjs/common';
import { Cleanup } from '../../database/cleanup.js';
import { loadSql, QueryRunner } from '../../database/query-runner.js';
import { Clock } from '../../settings/clock.js';

const DELETIONS = [{ statement: loadSql(import.meta.url, 'delete-expired-counters') }];

/** Deletes the counters of PostgreSQL whose windows are over. */
@Injectable()
export class CounterCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'counters', DELETIONS);
  }
}
