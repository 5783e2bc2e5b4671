import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseHook } from '../http/responses/response-hook.js';
import { rateLimitReport } from './rules/headers.js';
import type { RateLimitDecision } from './rules/rate-limit-decision.js';
import { RateLimiter } from './rate-limiter.js';
import type { WindowState } from './rules/windows.js';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The window that the response's `X-RateLimit-*` describe; null before the response, and if it has none.
     */
    reportedWindow: WindowState | null;
  }
}

/**
 * Adds the rate-limit headers: of the request's decision, or of what is last known if the request was not
 * counted.
 */
@Injectable()
export class RateLimitHeadersHook implements ResponseHook {
  constructor(private readonly rateLimiter: RateLimiter) {}

  onSend(request: FastifyRequest, reply: FastifyReply): void {
    const decision = request.decision ?? this.lastKnown(request, reply);
    if (decision !== null) {
      const { headers, tightest } = rateLimitReport(decision);
      request.reportedWindow = tightest;
      reply.headers(headers);
    }
  }

  /** The only request that succeeds without being counted is a CORS preflight, which has no limits. */
  private lastKnown(request: FastifyRequest, { statusCode }: FastifyReply): RateLimitDecision | null {
    return statusCode >= 400 && request.requiredRole !== null ? this.rateLimiter.lastKnown(request) : null;
  }
}
