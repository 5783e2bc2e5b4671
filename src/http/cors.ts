import type { FastifyReply, FastifyRequest } from 'fastify';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  /** Seconds for which a browser need not ask again. */
  'Access-Control-Max-Age': '600',
};

/** Has an answer say whose pages may read it. True where the request was a preflight, and is answered. */
export type Sharing = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Lets pages of these origins read answers (Fetch, section 3.3), or of all where one is `*`. A preflight carries no key, and is not
 * counted; any other OPTIONS is a method like any other.
 *
 * A function and not a plugin, as no plugin sees what the router itself refuses, and a page must be able to read that too.
 *
 * @param exposedHeaders the response headers that those pages may read.
 */
export function sharingWith(origins: readonly string[], exposedHeaders: readonly string[]): Sharing {
  const exposed = exposedHeaders.join(', ');
  const allowed = (origin: string | undefined) =>
    origins.includes('*') ? '*' : origins.find((each) => each === origin);
  return (request, reply) => {
    // Also where nobody is allowed: a cache must not give this answer to a page that is.
    reply.header('Vary', 'Origin');
    const origin = allowed(request.headers.origin);
    if (origin !== undefined) {
      reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed });
    }
    if (!isPreflight(request)) {
      return false;
    }
    if (origin !== undefined) {
      reply.headers(PREFLIGHT_HEADERS);
    }
    void reply.status(204).send();
    return true;
  };
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && Boolean(headers.origin) && Boolean(headers['access-control-request-method']);
}
