import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { Authenticator } from './authenticator.js';
import { PUBLIC } from './public.decorator.js';

/** Allows requests with a valid API key, and counts all others against their address. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly rateLimiter: RateLimiter,
    private readonly reflector: Reflector,
  ) {}

  /** @throws ApiError `missing_api_key` or `invalid_api_key`, or `rate_limit_exceeded` in place of both. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(PUBLIC, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const authentication = await this.authenticator.authenticate(request.headers.authorization);
    request.authentication = authentication;
    if (authentication.principal === null) {
      await this.rateLimiter.authorize(request, authentication);
      throw authentication.denial;
    }
    return true;
  }
}
