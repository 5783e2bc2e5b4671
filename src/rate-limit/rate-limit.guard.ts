import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { RateLimiter } from './rate-limiter.js';
import type { RateLimitRequest } from './rules/rate-limit-decision.js';
import type { WindowOptions } from './throttler-options.js';

/** Allows a request that both windows of `throttlerOptions()` have room for, and that has a valid key. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  declare protected throttlers: WindowOptions['throttlers'];
  declare protected commonOptions: WindowOptions;
  @Inject() private readonly rateLimiter!: RateLimiter;

  /**
   * Counts both windows in one step; the method that it overrides counts one after the other. Returns no
   * promise for a read that is served while it is counted. After its first denial a bucket is known to be
   * empty or banned, and its reads wait here.
   *
   * @throws ApiError `rate_limit_exceeded` or `api_key_banned`, else the denial of a request without a valid
   * key.
   */
  // oxlint-disable-next-line typescript/promise-function-async
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return (this.commonOptions.skipIf(context) || this.authorize(context)) as Promise<boolean>;
  }

  private authorize(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    const windows = this.readWindows(context, request);
    const overlaps =
      request.routeOptions.config.isServedWhileCounted === true &&
      this.rateLimiter.mayAllow(request, windows);
    const decision = this.rateLimiter.authorize(request, windows);
    if (!overlaps) {
      return decision.then(() => true);
    }
    request.pendingDecision = decision;
    // A denial is thrown where the request waits for its decision.
    decision.catch(() => {});
    return true;
  }

  private readWindows(context: ExecutionContext, request: FastifyRequest): RateLimitRequest {
    const [minute, day] = this.throttlers;
    return {
      bucketKey: this.commonOptions.getTracker(request),
      perMinute: minute.limit(context),
      perDay: day.skipIf(context) ? null : day.limit(context),
    };
  }
}
