import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { targetPath } from '../http/request-path.js';

/** 1 to 255 visible ASCII characters. A header that is given twice has a space in between, and so is none. */
const KEY = /^[\x21-\x7e]{1,255}$/;

type Request = Pick<FastifyRequest, 'method' | 'url' | 'headers' | 'bodyBytes'>;

/**
 * The `Idempotency-Key` of a request, or null where it has none.
 *
 * @throws ApiError `invalid_request`.
 */
export function idempotencyKeyOf({ headers }: Pick<Request, 'headers'>): string | null {
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

/** SHA-256 of what must be the same for an answer to be given again: method, path, and the bytes of the body. */
export function fingerprintOf({ method, url, bodyBytes }: Request): Buffer {
  const head = Buffer.from(`${method} ${targetPath(url)}\n`);
  return hash('sha256', Buffer.concat([head, bodyBytes ?? Buffer.alloc(0)]), 'buffer');
}
