import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePrincipal } from '../principal.js';
import { conflict, type CreationResult, type IdempotentRequest, StoredResponse } from './creation-batcher.js';
import { fingerprintOf, idempotencyKeyOf } from './idempotency-key.js';

/** How the serialized body of a draft begins: every response 201 has its identifier first. */
const ID = '{"id":0';

interface Creation<Draft> {
  /** The body of the response but for its `id`. */
  draft: Draft;
  /** The path below which the new record is read, for `Location`; none where it cannot be read. */
  path?: string;
  /** Creates the record; or, where a request with the same key did before, returns the response stored then. */
  create: (idempotent: IdempotentRequest | null) => Promise<CreationResult>;
}

/** Responds to requests that create a record. Of those with the same `Idempotency-Key` one creates, and all others get its response. */
@Injectable()
export class IdempotencyService {
  /** Responses sent again since the start. */
  replays = 0;
  /** The quotas and keys that this process is creating for. */
  private readonly inFlight = new Set<string>();

  /**
   * Sets the headers of the response.
   *
   * @returns its body, or the text of the stored one.
   * @throws ApiError `invalid_request`, `idempotency_conflict`, `idempotency_key_reused`; what `create` throws.
   */
  async respond<Draft extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    { draft, path, create }: Creation<Draft>,
  ): Promise<(Draft & { id: bigint }) | string> {
    const key = idempotencyKeyOf(request);
    const pathBeforeId = path === undefined ? null : `${path}/`;
    const created =
      key === null
        ? await create(null)
        : await this.createOnce(create, {
            quotaId: requirePrincipal(request).quota.id,
            key,
            fingerprint: fingerprintOf(request),
            bodyAfterId: bodyAfterId(reply, draft),
            pathBeforeId,
          });
    if (created instanceof StoredResponse) {
      this.replays += 1;
      setLocation(reply, created.location);
      reply.header('Idempotent-Replayed', 'true').type('application/json; charset=utf-8');
      return created.body;
    }
    setLocation(reply, pathBeforeId && `${pathBeforeId}${created}`);
    return { ...draft, id: created };
  }

  private async createOnce(
    create: Creation<never>['create'],
    idempotent: IdempotentRequest,
  ): Promise<CreationResult> {
    const name = `${idempotent.quotaId} ${idempotent.key}`;
    if (this.inFlight.has(name)) {
      throw conflict();
    }
    this.inFlight.add(name);
    try {
      return await create(idempotent);
    } finally {
      this.inFlight.delete(name);
    }
  }
}

function bodyAfterId(reply: FastifyReply, draft: object): string {
  const body = reply.serialize({ ...draft, id: 0n }) as string;
  if (!body.startsWith(ID)) {
    throw new Error(`The identifier is not the first value of ${body}`);
  }
  return body.slice(ID.length);
}

function setLocation(reply: FastifyReply, location: string | null): void {
  if (location !== null) {
    reply.header('Location', location);
  }
}
