import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../principal.js';
import { type HandlerFact, isMarked } from '../http/handler-fact.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { Authenticator } from './authenticator.js';
import { PUBLIC } from './public.decorator.js';

const NONE = {};

/** Allows requests with a valid API key, and adds the header that tells when the key expires. Counts all others against their address. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly isPublic: HandlerFact<boolean>;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly rateLimiter: RateLimiter,
    reflector: Reflector,
  ) {
    this.isPublic = isMarked(reflector, PUBLIC);
  }

  /** @throws ApiError `missing_api_key` or `invalid_api_key`, or `rate_limit_exceeded` in place of both. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic.of(context)) {
      return true;
    }
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const caller = await this.authenticator.identify(request.headers.authorization);
    request.authentication = caller;
    if (caller.principal === null) {
      await this.rateLimiter.authorize(request, caller);
      throw caller.refusal;
    }
    http.getResponse<FastifyReply>().headers(expiryHeader(caller.principal));
    return true;
  }
}

/**
 * Tells when the key of a request stops being valid, as an HTTP date (IMF-fixdate, RFC 9110, section 5.6.7), rounded
 * down to the second. Nothing for a key that never does.
 */
export function expiryHeader({ expiresAt }: Pick<Principal, 'expiresAt'>): Record<string, string> {
  return expiresAt === null ? NONE : { 'X-Api-Key-Expires': expiresAt.toUTCString() };
}
