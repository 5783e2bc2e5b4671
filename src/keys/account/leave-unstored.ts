import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../http/routes/api-error.js';

/**
 * Prepares a response that shows a holder a new key: neither a cache nor the service stores it.
 *
 * @throws ApiError `invalid_request` for a request with an `Idempotency-Key`, which could not be replayed.
 */
export function leaveUnstored({ headers }: FastifyRequest, reply: FastifyReply): void {
  if (headers['idempotency-key'] !== undefined) {
    const message = 'Leave out Idempotency-Key: this response has a key, so it is not stored.';
    throw new ApiError('invalid_request', message);
  }
  reply.header('Cache-Control', 'no-store');
}
