import { Injectable } from '@nestjs/common';
import { Cleanup, deletion, SERVER_TIME } from '../database/cleanup.js';
import { PrismaService } from '../database/prisma.service.js';
import { Clock } from '../settings/clock.js';
import { declareTables, EVERY_PRIVILEGE } from '../database/tables.js';

declareTables({ stored_responses: { privileges: EVERY_PRIVILEGE } });

/** Deletes stored responses that are older than 24 hours. */
@Injectable()
export class IdempotencyCleanup extends Cleanup {
  constructor(prisma: PrismaService, clock: Clock) {
    super(prisma, clock, 'responses', [
      deletion('stored_responses', `stored_at <= ${SERVER_TIME} - interval '24 hours'`),
    ]);
  }
}
