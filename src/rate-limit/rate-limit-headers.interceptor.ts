import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProtected } from '../http/request-path.js';
import type { ResponseInterceptor } from '../http/response-interceptor.js';
import { rateLimitHeaders, reportedWindow } from './headers.js';
import type { RateLimitDecision } from './rate-limit-decision.js';
import { RateLimiter } from './rate-limiter.js';
import type { WindowState } from './windows.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The window that the response's `X-RateLimit-*` describe; null before the response, and where it has none. */
    reportedWindow: WindowState | null;
  }
}

/** Adds the rate-limit headers: of the request's decision, else, where it was not counted, of what is last known. */
@Injectable()
export class RateLimitHeadersInterceptor implements ResponseInterceptor {
  constructor(private readonly rateLimiter: RateLimiter) {}

  intercept(request: FastifyRequest, reply: FastifyReply): void {
    const decision = request.decision ?? this.lastKnown(request, reply);
    if (decision !== null) {
      request.reportedWindow = reportedWindow(decision);
      reply.headers(rateLimitHeaders(decision, request.reportedWindow));
    }
  }

  /** Of what is not counted only a preflight of CORS succeeds, and has no limits. */
  private lastKnown(request: FastifyRequest, { statusCode }: FastifyReply): RateLimitDecision | null {
    return statusCode >= 400 && isProtected(request) ? this.rateLimiter.lastKnown(request) : null;
  }
}
