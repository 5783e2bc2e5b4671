import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/routes/api-error.js';
import { RequestBody } from '../http/routes/request-body.js';
import { targetPath } from '../http/routes/request-line.js';
import { requirePrincipal } from '../auth/principal.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import type { z } from 'zod';
import { serializerSchema } from '../schemas/json-schema.js';
import { jsonWriter } from '../schemas/json-writer.js';
import { Created, idempotencyConflict, type IdempotentRequest } from './creation-batcher.js';

/**
 * 1 to 255 visible ASCII characters. Node joins a repeated header with a comma and a space, so it is
 * rejected.
 */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** What has an identifier. */
interface Identified {
  id: bigint;
}

/** Creates a record, or returns the response stored for an earlier request with the same key. */
type Create<View> = (idempotent: IdempotentRequest<View> | null) => Promise<View | Created>;

/** Returns what writes the response to the creation of a record, which is read below `path`, unless null. */
export function createdResponse(schema: z.ZodType, path: string | null) {
  const write = jsonWriter(serializerSchema(schema));
  return (record: Identified) => new Created(write(record), path && `${path}/${record.id}`);
}

/**
 * Responds to requests that create a record. Of those with the same `Idempotency-Key`, one creates; the
 * others get its response.
 */
@Injectable()
export class IdempotencyService implements MetricsSource {
  /** Responses sent again since the start. */
  private replays = 0;
  /** The quota and key of each creation in flight. */
  private readonly inFlight = new Set<string>();

  addMetrics(metrics: MetricsRegistry): void {
    metrics.counter('idempotent_replays_total', 'Stored responses sent again.', [], () => [[this.replays]]);
  }

  /**
   * Sets the headers of the response.
   *
   * @param write returns the response that shows a record (`createdResponse`).
   * @returns its body.
   * @throws ApiError `invalid_request`, `idempotency_conflict`, `idempotency_key_reused`; what `create`
   *   throws.
   */
  async respond<View extends Identified>(
    request: FastifyRequest,
    reply: FastifyReply,
    write: (record: View) => Created,
    create: Create<View>,
  ): Promise<string> {
    const key = readIdempotencyKey(request);
    const result = key === null ? await create(null) : await this.createOnce(request, key, write, create);
    const isReplay = result instanceof Created;
    const { body, location } = isReplay ? result : write(result);
    if (location !== null) {
      reply.header('Location', location);
    }
    if (isReplay) {
      this.replays += 1;
      reply.header('Idempotent-Replayed', 'true');
    }
    reply.type('application/json; charset=utf-8');
    return body;
  }

  private async createOnce<View extends Identified>(
    request: FastifyRequest,
    key: string,
    write: (record: View) => Created,
    create: Create<View>,
  ): Promise<View | Created> {
    const quotaId = requirePrincipal(request).quota.id;
    const name = `${quotaId} ${key}`;
    if (this.inFlight.has(name)) {
      throw idempotencyConflict();
    }
    this.inFlight.add(name);
    try {
      return await create({ quotaId, key, fingerprint: hashRequest(request), respondWith: write });
    } finally {
      this.inFlight.delete(name);
    }
  }
}

/** @throws ApiError `invalid_request`. */
function readIdempotencyKey({ headers }: FastifyRequest): string | null {
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

/**
 * Returns the SHA-256 of what requests with the same key must share: method, path, and the bytes of the body.
 */
function hashRequest({ method, url, body }: FastifyRequest): Buffer {
  const head = Buffer.from(`${method} ${targetPath(url)}\n`);
  return hash('sha256', body instanceof RequestBody ? Buffer.concat([head, body.bytes]) : head, 'buffer');
}
