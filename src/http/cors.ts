import type { onRequestHookHandler } from 'fastify';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age': '600',
};

/** Returns a hook that adds the CORS headers (Fetch, section 3.3) for pages of these origins, or of all if one is `*`, and responds to preflight requests. */
export function allowOrigins(origins: readonly string[]): onRequestHookHandler {
  return ({ method, headers }, reply, done) => {
    // Also if no origin is allowed, so that a cache does not give this response to a page of an allowed one.
    reply.header('Vary', 'Origin');
    const origin = origins.includes('*') ? '*' : origins.find((each) => each === headers.origin);
    if (origin !== undefined) {
      reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' });
    }
    const isPreflight = method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];
    if (!isPreflight) {
      done();
      return;
    }
    void reply
      .headers(origin === undefined ? {} : PREFLIGHT_HEADERS)
      .status(204)
      .send();
  };
}
