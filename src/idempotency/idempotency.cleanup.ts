import { Injectable } from '@nestjs/common';
import { Cleanup, deletion } from '../database/batches/cleanup.js';
import { PrismaService } from '../database/access/prisma.service.js';

/** Deletes stored responses that are older than 24 hours. */
@Injectable()
export class IdempotencyCleanup extends Cleanup {
  constructor(prisma: PrismaService) {
    super(prisma, 'responses', [
      deletion('stored_responses', `stored_at <= statement_timestamp() - interval '24 hours'`),
    ]);
  }
}
