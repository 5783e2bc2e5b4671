import type { FastifyReply, FastifyRequest } from 'fastify';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age': '600',
};

/** Adds the CORS headers of a response; returns true for a preflight, which has its response then. */
export type Cors = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Returns the CORS rules (Fetch, section 3.3) for pages of these origins, or of all if one is `*`. Not a plugin, as none runs for a
 * request that the router rejects.
 *
 * @param origins undefined for no rules.
 * @param exposedHeaders the response headers that those pages may read.
 */
export function corsOf(origins: readonly string[] | undefined, exposedHeaders: readonly string[]): Cors {
  if (origins === undefined) {
    return () => false;
  }
  const exposed = exposedHeaders.join(', ');
  const allowed = (origin: string | undefined) =>
    origins.includes('*') ? '*' : origins.find((each) => each === origin);
  return (request, reply) => {
    const { method, headers } = request;
    // Also where no origin is allowed, so that a cache does not give this response to a page of an allowed one.
    reply.header('Vary', 'Origin');
    const origin = allowed(headers.origin);
    if (origin !== undefined) {
      reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed });
    }
    if (method !== 'OPTIONS' || !headers.origin || !headers['access-control-request-method']) {
      return false;
    }
    if (origin !== undefined) {
      reply.headers(PREFLIGHT_HEADERS);
    }
    void reply.status(204).send();
    return true;
  };
}
