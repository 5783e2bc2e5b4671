import { Injectable } from '@nestjs/common';
import { Clock } from '../settings/clock.js';
import { PrismaService } from '../database/prisma.service.js';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';

const INTERVAL_MS = 60_000;
/** Rows that one statement deletes at most. */
const DELETE_BATCH = 5_000;

/** Deletes stored responses that are older than 24 hours, once a minute. */
@Injectable()
export class IdempotencyCleanup extends PeriodicDatabaseTask {
  constructor(
    private readonly prisma: PrismaService,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), 'Expired responses were not deleted');
  }

  /**
   * Deletes one batch, by the database's clock, which all replicas share.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    const deleted = await this.prisma.$executeRaw`
      DELETE FROM stored_responses WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM stored_responses
         WHERE stored_at <=
           statement_timestamp() + make_interval(secs => ${this.clock.storeOffsetMs / 1000}::float8) - interval '24 hours'
         ORDER BY stored_at LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED))`;
    return deleted === DELETE_BATCH;
  }
}
