import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';
import type { AuthenticationResult } from '../http/principal.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { Authenticator } from './authenticator.js';

/** Allows requests with a valid API key, and counts all others against their address. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly rateLimiter: RateLimiter,
  ) {}

  /**
   * Returns no promise for a cached key.
   *
   * @throws ApiError `missing_api_key` or `invalid_api_key`, or `rate_limit_exceeded` in place of both.
   */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (request.requiredRole === null) {
      return true;
    }
    const result = this.authenticator.authenticate(request.headers.authorization);
    return result instanceof Promise
      ? result.then((found) => this.finish(request, reply, found))
      : this.finish(request, reply, result);
  }

  private finish(
    request: FastifyRequest,
    reply: FastifyReply,
    result: AuthenticationResult,
  ): boolean | Promise<boolean> {
    request.authentication = result;
    if (result.principal === null) {
      return this.deny(request, result.denial);
    }
    const { expiresAt } = result.principal;
    if (expiresAt !== null) {
      reply.header('X-Api-Key-Expires', expiresAt.toUTCString());
    }
    return true;
  }

  private async deny(request: FastifyRequest, denial: ApiError): Promise<never> {
    await this.rateLimiter.authorize(request);
    throw denial;
  }
}
