import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../client.js';
import { atomically } from '../database/atomically.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../errors/api-error.js';
import { fingerprintOf, idempotencyKeyOf } from './idempotency-key.js';
import { type KeptAnswer, KeptAnswers } from './kept-answers.js';

interface Creation<Created> {
  /** Writes, in the transaction where there is one. */
  create: (transaction?: Prisma.TransactionClient) => Promise<Created>;
  /** The path of what was created, where it has one. */
  locationOf?: (created: Created) => string;
}

/**
 * Answers what creates something. With an `Idempotency-Key` that happens once: what is written and its answer are one
 * transaction, and whoever sends the same again is given that answer.
 */
@Injectable()
export class Creations {
  /** Answers that were given again. */
  replays = 0;

  constructor(
    private readonly prisma: PrismaService,
    private readonly answers: KeptAnswers,
  ) {}

  /**
   * @returns what was created, or the body of the answer, written.
   * @throws ApiError `invalid_request`, `idempotency_conflict`, `idempotency_key_reused`; what `create` throws.
   */
  async answer<Created>(
    request: FastifyRequest,
    reply: FastifyReply,
    creation: Creation<Created>,
  ): Promise<Created | string> {
    const key = idempotencyKeyOf(request);
    if (key === null) {
      const created = await creation.create();
      tellLocation(reply, creation.locationOf?.(created));
      return created;
    }
    const answer = await this.once(request, reply, key, creation);
    tellLocation(reply, answer.location);
    if (answer.replayed) {
      this.replays += 1;
      reply.header('Idempotent-Replayed', 'true');
    }
    reply.type('application/json; charset=utf-8');
    return answer.body;
  }

  private async once<Created>(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    { create, locationOf }: Creation<Created>,
  ): Promise<KeptAnswer & { replayed: boolean }> {
    const { quota } = await clientOf(request);
    const fingerprint = fingerprintOf(request);
    return atomically(this.prisma, async (transaction) => {
      // Not the unique index of the answers: who waits for that cannot be told that a twin is under way.
      if (!(await this.answers.hold(transaction, quota.id, key))) {
        throw conflict();
      }
      const earlier = await this.answers.find(transaction, quota.id, key);
      if (earlier !== null) {
        return { ...again(earlier, fingerprint), replayed: true };
      }
      const created = await create(transaction);
      const body = reply.serialize(created) as string;
      const answer = { fingerprint, body, location: locationOf?.(created) ?? null };
      await this.answers.keep(transaction, quota.id, key, answer);
      return { ...answer, replayed: false };
    });
  }
}

function tellLocation(reply: FastifyReply, location: string | null | undefined): void {
  if (typeof location === 'string') {
    reply.header('Location', location);
  }
}

function again(earlier: KeptAnswer, fingerprint: Buffer): KeptAnswer {
  if (!earlier.fingerprint.equals(fingerprint)) {
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key came with another request within the last 24 hours. Use a new one for each.',
    );
  }
  return earlier;
}

function conflict(): ApiError {
  return new ApiError(
    'idempotency_conflict',
    'A request with this Idempotency-Key is still under way. Send the same again shortly for its answer.',
  );
}
