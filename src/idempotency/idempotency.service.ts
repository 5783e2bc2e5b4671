import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { targetPath } from '../http/request-path.js';
import { requirePrincipal } from '../http/principal.js';
import { conflict, type CreationResult, type IdempotentRequest, StoredResponse } from './creation-batcher.js';

/** 1 to 255 visible ASCII characters. Node joins a repeated header with a comma and a space, which is none. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** The start of a draft's serialized body: every response 201 has its identifier first. */
const ID = '{"id":0';

interface Creation<Draft> {
  /** The body of the response but for its `id`. */
  draft: Draft;
  /** The path below which the new record is read, for `Location`; undefined if it cannot be read. */
  path?: string;
  /** Creates the record, or returns the response stored for an earlier request with the same key. */
  create: (idempotent: IdempotentRequest | null) => Promise<CreationResult>;
}

/** Responds to requests that create a record. Of those with the same `Idempotency-Key`, one creates; the others get its response. */
@Injectable()
export class IdempotencyService {
  /** Responses sent again since the start. */
  replays = 0;
  /** The quota and key of each creation in flight. */
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

/** @throws ApiError `invalid_request`. */
function idempotencyKeyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) {
    return null;
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The header Idempotency-Key must be 1 to 255 visible ASCII characters, and given once.';
    throw new ApiError('invalid_request', message);
  }
  return key;
}

/** Returns the SHA-256 of what requests with the same key must share: method, path, and the bytes of the body. */
function fingerprintOf({ method, url, bodyBytes }: FastifyRequest): Buffer {
  const head = Buffer.from(`${method} ${targetPath(url)}\n`);
  return hash('sha256', Buffer.concat([head, bodyBytes ?? Buffer.alloc(0)]), 'buffer');
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
