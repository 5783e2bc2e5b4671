import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import type { RequestHook } from './hooks.js';
import { SECURITY_HEADERS } from '../server/security-headers.js';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age': '600',
};

/**
 * Adds the headers of every response: the request id, the security headers, and the CORS headers (Fetch, section 3.3) for pages of `CORS_ORIGINS`, or of
 * all if one is `*`. Responds to preflight requests. Not a plugin, because none runs for a request that the router rejects.
 */
@Injectable()
export class StandardHeadersHook implements RequestHook {
  private readonly origins: readonly string[] | undefined;

  constructor(@Inject(ENVIRONMENT) { CORS_ORIGINS }: Pick<Environment, 'CORS_ORIGINS'>) {
    this.origins = CORS_ORIGINS;
  }

  onRequest({ id, method, headers }: FastifyRequest, reply: FastifyReply): null {
    reply.header('X-Request-Id', id).headers(SECURITY_HEADERS);
    if (this.origins === undefined) {
      return null;
    }
    // Also if no origin is allowed, so that a cache does not give this response to a page of an allowed one.
    reply.header('Vary', 'Origin');
    const origin = this.origins.includes('*') ? '*' : this.origins.find((each) => each === headers.origin);
    if (origin !== undefined) {
      reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' });
    }
    const isPreflight = method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];
    if (isPreflight) {
      void reply
        .headers(origin === undefined ? {} : PREFLIGHT_HEADERS)
        .status(204)
        .send();
    }
    return null;
  }
}
