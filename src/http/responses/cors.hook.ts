import type { onRequestHookHandler } from 'fastify';
import { METHODS } from '../routes/allowed-methods.js';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': METHODS,
  'Access-Control-Max-Age': '600',
};
/** What `*` stands for in an origin. */
const SUBDOMAIN = /^[\w.-]+$/;

/**
 * Returns a hook that adds the CORS headers (Fetch, section 3.3) for pages of these origins, or of all if one
 * is `*`, and responds to preflight requests. `@fastify/cors` would authenticate preflights of other origins,
 * and take OPTIONS from every path.
 */
export function allowOrigins(origins: readonly string[]): onRequestHookHandler {
  return ({ method, headers }, reply, done) => {
    // Always, so that no cache gives the response without an allowed origin to a page that has one.
    reply.header('Vary', 'Origin');
    const origin = origins.includes('*') ? '*' : findAllowed(headers.origin, origins);
    if (origin !== undefined) {
      reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' });
    }
    const isPreflight = method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];
    if (!isPreflight) {
      done();
      return;
    }
    void reply
      .headers(origin === undefined ? {} : preflightHeaders(headers['access-control-request-headers']))
      .status(204)
      .send();
  };
}

function findAllowed(origin = '', origins: readonly string[]): string | undefined {
  return origins.some((each) => includes(each, origin)) ? origin : undefined;
}

/** Returns whether an origin is this one, or, if this begins with `*.`, a subdomain of it at any depth. */
function includes(allowed: string, origin: string): boolean {
  const [scheme = '', parent] = allowed.split('*');
  if (parent === undefined) {
    return allowed === origin;
  }
  const subdomain = origin.slice(scheme.length, -parent.length);
  return origin.startsWith(scheme) && origin.endsWith(parent) && SUBDOMAIN.test(subdomain);
}

/**
 * Allows every header that a page wants to send. A list would protect services that trust a browser by its
 * cookies or its network; here a page must have the key itself.
 */
function preflightHeaders(requested: string | undefined): Record<string, string> {
  return {
    ...PREFLIGHT_HEADERS,
    Vary: 'Origin, Access-Control-Request-Headers',
    ...(requested !== undefined && { 'Access-Control-Allow-Headers': requested }),
  };
}
