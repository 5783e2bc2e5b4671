import { Injectable } from '@nestjs/common';
import { Cleanup, deletion, SERVER_TIME } from '../database/cleanup.js';
import { QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';

/** Deletes deliveries that are no longer shown, and whose events happen no more. */
@Injectable()
export class WebhookCleanup extends Cleanup {
  constructor(queries: QueryRunner, clock: Clock) {
    super(queries, clock, 'webhook deliveries', [
      deletion('webhook_deliveries', `state <> 'pending' AND kept_until < ${SERVER_TIME}`),
    ]);
  }
}
