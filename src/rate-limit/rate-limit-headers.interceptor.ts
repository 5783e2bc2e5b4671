import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProtected } from '../http/request-path.js';
import type { ResponseInterceptor } from '../http/response-interceptor.js';
import { rateLimitHeaders } from './headers.js';
import { RateLimiter } from './rate-limiter.js';

/** Adds the rate-limit headers: of the request's decision, else, where it was not counted, of what is last known. */
@Injectable()
export class RateLimitHeadersInterceptor implements ResponseInterceptor {
  constructor(private readonly rateLimiter: RateLimiter) {}

  intercept(request: FastifyRequest, reply: FastifyReply): void {
    if (request.decision !== null) {
      reply.headers(rateLimitHeaders(request.decision));
    } else if (isProtected(request) && reply.statusCode >= 400) {
      // Of what is not counted only a preflight of CORS succeeds, and has no limits.
      reply.headers(rateLimitHeaders(this.rateLimiter.lastKnown(request)));
    }
  }
}
