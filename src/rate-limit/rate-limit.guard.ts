import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { RateLimiter } from './rate-limiter.js';

/**
 * Allows a request that both windows of its client's quota have room for. It replaces `canActivate` of the guard of
 * `@nestjs/throttler`, which counts each window by itself.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  @Inject() private readonly rateLimiter!: RateLimiter;

  /** Does nothing: the windows and their limits are the quota's, not those of throttlers. */
  override async onModuleInit(): Promise<void> {}

  /**
   * Returns no promise for a read that is served while it is counted. After its first denial a bucket is known to be empty or banned,
   * and its reads wait here.
   *
   * @throws ApiError `rate_limit_exceeded` or `api_key_banned`.
   */
  // oxlint-disable-next-line typescript/promise-function-async
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return this.authorize(request) as Promise<boolean>;
  }

  private authorize(request: FastifyRequest): boolean | Promise<boolean> {
    if (request.requiredRole === null) {
      return true;
    }
    const overlaps =
      request.routeOptions.config.isServedWhileCounted === true && this.rateLimiter.mayAllow(request);
    const decision = this.rateLimiter.authorize(request);
    if (!overlaps) {
      return decision.then(() => true);
    }
    request.pendingDecision = decision;
    // A denial is thrown where the request waits for its decision.
    decision.catch(() => {});
    return true;
  }
}
