import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { PrismaService } from '../database/prisma.service.js';
import { QueryRunner } from '../database/query-runner.js';
import { CreationBatcher, type Resource } from './creation-batcher.js';

/** Rows that one statement deletes at most. */
const DELETE_BATCH = 5_000;

/** The responses to requests with an `Idempotency-Key`, by quota and key. By the database's clock, as replicas share it. */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly prisma: PrismaService,
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {}

  /** Returns a batcher of the creations of one resource, which stores their responses. */
  batcher<Input>(resource: Resource<Input>): CreationBatcher<Input> {
    return new CreationBatcher(resource, this.queries, this.clock);
  }

  /**
   * Deletes responses that are older than 24 hours, one batch.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    const deleted = await this.prisma.$executeRaw`
      DELETE FROM idempotent_answers WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotent_answers
         WHERE kept_at <=
           statement_timestamp() + make_interval(secs => ${this.clock.storeOffsetMs / 1000}::float8) - interval '24 hours'
         ORDER BY kept_at LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED))`;
    return deleted === DELETE_BATCH;
  }
}
