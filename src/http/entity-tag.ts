import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

const TAG = /"[^"]*"/g;

/**
 * A strong `ETag` (RFC 9110, section 8.8.3) of a body and its `Link`: a list that goes on is another than the same that
 * ends.
 */
export function entityTag(body: string, link = ''): string {
  return `"${hash('sha1', `${link}\n${body}`, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` names this tag (RFC 9110, section 13.1.2), by the weak comparison. A `Cache-Control: no-cache` beside it
 * means nothing here, though some libraries take it for a wish: `fetch` adds it to every request with an `If-None-Match`.
 */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || ifNoneMatch.match(TAG)?.includes(tag) === true;
}

/**
 * Gives the response of an operation that is `@Revalidated()` its `ETag`, unless it has one, and makes it 304 for a client that has it.
 *
 * @returns what is sent.
 */
export function revalidate(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const isRevalidated = reply.statusCode === 200 && request.routeOptions.config.revalidated === true;
  if (!isRevalidated || typeof payload !== 'string') {
    return payload;
  }
  const tag = String(reply.getHeader('ETag') ?? entityTag(payload, reply.getHeader('Link')?.toString()));
  reply.header('ETag', tag).header('Cache-Control', 'private, no-cache');
  if (!namesTag(request.headers['if-none-match'] ?? '', tag)) {
    return payload;
  }
  reply.status(304).removeHeader('Content-Type');
  // Fastify measures the body of HEAD itself.
  return request.method === 'HEAD' ? payload : null;
}
