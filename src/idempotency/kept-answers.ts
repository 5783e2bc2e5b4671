import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';

const LIFE_MS = 24 * 60 * 60 * 1000;
/** Rows that one statement removes at the most. */
const SWEEP_BATCH = 5_000;

/** An answer 201, as it was first given. */
export interface KeptAnswer {
  /** Of the request that it answered. */
  fingerprint: Buffer;
  body: string;
  location: string | null;
}

/** The answers to requests with an `Idempotency-Key`, by quota and key. By the database's clock, as replicas share it. */
@Injectable()
export class KeptAnswers {
  constructor(
    private readonly prisma: PrismaService,
    private readonly clock: Clock,
  ) {}

  /** Holds the key until the transaction ends; false when another request holds it. */
  async hold(transaction: Prisma.TransactionClient, quotaId: string, key: string): Promise<boolean> {
    const [row] = await transaction.$queryRaw<{ held: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${`${quotaId} ${key}`}, 0)) AS held`;
    return row?.held === true;
  }

  async find(
    transaction: Prisma.TransactionClient,
    quotaId: string,
    key: string,
  ): Promise<KeptAnswer | null> {
    const [row] = await transaction.$queryRaw<
      (Omit<KeptAnswer, 'fingerprint'> & { fingerprint: Uint8Array })[]
    >`
      SELECT fingerprint, body, location FROM idempotent_answers
       WHERE quota_id = ${quotaId}::uuid AND key = ${key}
         AND kept_at > statement_timestamp() + make_interval(secs => ${this.secondsUntil(-LIFE_MS)}::float8)`;
    return row === undefined ? null : { ...row, fingerprint: Buffer.from(row.fingerprint) };
  }

  /** Keeps an answer, in the place of one that is too old. */
  async keep(
    transaction: Prisma.TransactionClient,
    quotaId: string,
    key: string,
    { fingerprint, body, location }: KeptAnswer,
  ): Promise<void> {
    await transaction.$executeRaw`
      INSERT INTO idempotent_answers AS kept (quota_id, key, fingerprint, body, location, kept_at)
      VALUES (${quotaId}::uuid, ${key}, ${fingerprint}, ${body}, ${location},
              statement_timestamp() + make_interval(secs => ${this.secondsUntil(0)}::float8))
      ON CONFLICT (quota_id, key) DO UPDATE SET
        fingerprint = EXCLUDED.fingerprint, body = EXCLUDED.body, location = EXCLUDED.location, kept_at = EXCLUDED.kept_at`;
  }

  /**
   * Removes some of what is too old.
   *
   * @returns whether there may be more.
   * @throws the database's error.
   */
  async sweep(): Promise<boolean> {
    const removed = await this.prisma.$executeRaw`
      DELETE FROM idempotent_answers WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotent_answers
         WHERE kept_at <= statement_timestamp() + make_interval(secs => ${this.secondsUntil(-LIFE_MS)}::float8)
         ORDER BY kept_at LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED))`;
    return removed === SWEEP_BATCH;
  }

  /** Seconds from the database's own time to so many milliseconds after the time that this service is given. */
  private secondsUntil(afterMs: number): number {
    return (this.clock.storeOffsetMs + afterMs) / 1000;
  }
}
