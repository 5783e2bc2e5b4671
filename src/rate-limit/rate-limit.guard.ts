import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  SkipThrottle,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { RateLimiter } from './rate-limiter.js';

/** The metadata key that `@SkipThrottle()` sets, read from the decorator as the library does not export it. */
const SKIPPED = metadataKeyOf(SkipThrottle());

/**
 * Allows a request that both windows of its client's quota have room for. It replaces `canActivate` of the guard of
 * `@nestjs/throttler`, which counts each window by itself and looks up the limits of a route for each request.
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

  /** Does nothing: the windows and their limits are the quota's, not those of throttlers. */
  override async onModuleInit(): Promise<void> {}

  /** @throws ApiError `rate_limit_exceeded` or `api_key_banned`. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(SKIPPED, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { authentication, method } = request;
    if (authentication === null) {
      throw new Error('A route that is counted must be authenticated first');
    }
    if (method === 'GET' || method === 'HEAD') {
      await this.rateLimiter.authorizeRead(request, authentication);
    } else {
      await this.rateLimiter.authorize(request, authentication);
    }
    return true;
  }
}

function metadataKeyOf(decorator: ClassDecorator): string {
  class Marked {}
  decorator(Marked);
  return String(Reflect.getMetadataKeys(Marked)[0]);
}
