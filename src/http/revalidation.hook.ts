import type { FastifyInstance } from 'fastify';
import { entityTag, namesTag } from './entity-tag.js';

/** Gives the answers of what is `@Revalidated()` their `ETag`, unless they have one, and answers 304 to whom it is known. */
export function revalidate(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const isRevalidated = request.routeOptions.config.revalidated === true && reply.statusCode === 200;
    if (!isRevalidated || typeof payload !== 'string') {
      done();
      return;
    }
    const tag = String(reply.getHeader('ETag') ?? entityTag(payload, reply.getHeader('Link')?.toString()));
    reply.header('ETag', tag).header('Cache-Control', 'private, no-cache');
    if (!namesTag(request.headers['if-none-match'] ?? '', tag)) {
      done();
      return;
    }
    reply.status(304).removeHeader('Content-Type');
    // Fastify measures the body of HEAD itself.
    done(null, request.method === 'HEAD' ? payload : null);
  });
}
