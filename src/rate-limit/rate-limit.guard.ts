import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { rateLimitError, RateLimiter } from './rate-limiter.js';

/**
 * Lets in what its quota has room for. `@SkipThrottle()` and the options of `ThrottlerModule` mean what they
 * always do; only the counting is another: both windows at once, all or nothing, in the store.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly rateLimiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  /** @throws ApiError `rate_limit_exceeded` or `api_key_banned`. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const admitted = await super.canActivate(context);
    // What the route's handler may throw is then not counted either.
    request.uncounted = request.admission === null;
    return admitted;
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const caller = await requestOf(context).caller;
    if (caller === null) {
      throw new Error('A route that is counted must be authenticated first');
    }
    const admission = await this.rateLimiter.admit(requestOf(context), caller);
    if (!admission.admitted) {
      throw rateLimitError(admission, caller);
    }
    return true;
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
