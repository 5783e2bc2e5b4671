import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HandlerFact, isMarked } from '../http/handler-fact.js';
import { rateLimitHeaders } from './headers.js';
import { rateLimitError, RateLimiter } from './rate-limiter.js';

/** Where `@SkipThrottle()` leaves its word; the library does not export the name. */
const SKIPPED = 'THROTTLER:SKIPdefault';

/**
 * Lets in what its quota has room for, and tells the numbers on the response. It is the guard of `@nestjs/throttler` with
 * another way to count: both windows at once, all or nothing, in the store; and without what that would look up anew
 * for each request, as no route here has limits of its own.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  private readonly isSkipped: HandlerFact<boolean>;

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly rateLimiter: RateLimiter,
  ) {
    super(options, storage, reflector);
    this.isSkipped = isMarked(reflector, SKIPPED);
  }

  /** @throws ApiError `rate_limit_exceeded` or `api_key_banned`. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (this.isSkipped.of(context)) {
      // What the route's handler may throw is then not counted either.
      request.uncounted = true;
      return true;
    }
    const caller = await request.caller;
    if (caller === null) {
      throw new Error('A route that is counted must be authenticated first');
    }
    const admission = await this.rateLimiter.admit(request, caller);
    if (!admission.admitted) {
      throw rateLimitError(admission, caller);
    }
    http.getResponse<FastifyReply>().headers(rateLimitHeaders(admission));
    return true;
  }
}
