import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseHook } from '../http/responses/response-hook.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { clientBucketKey, clientLimits } from './rules/client.js';
import { rateLimitReport } from './rules/headers.js';
import type { RateLimitDecision } from './rules/rate-limit-decision.js';
import { FallbackCounterStore } from './stores/fallback-counter-store.js';
import type { WindowState } from './rules/windows.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The window that the response's `X-RateLimit-*` describe; null before, and if it has none. */
    reportedWindow: WindowState | null;
  }
}

/** Adds the headers of the request's decision, or of what was last known if it was not counted. */
@Injectable()
export class RateLimitHeadersHook implements ResponseHook {
  constructor(
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'ANONYMOUS_LIMIT'>,
  ) {}

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
    if (statusCode < 400 || request.requiredRole === null) {
      return null;
    }
    const quota = request.lastKnownPrincipal?.quota;
    const { perMinute, perDay } = clientLimits(quota, this.environment.ANONYMOUS_LIMIT);
    const bucketKey = clientBucketKey(quota, request);
    // A request that was not counted was not denied either.
    return { ...this.store.lastKnown({ bucketKey, perMinute, perDay }), allowed: true };
  }
}
