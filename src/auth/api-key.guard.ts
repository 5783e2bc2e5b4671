import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HandlerFact, isMarked } from '../http/handler-fact.js';
import { Authenticator } from './authenticator.js';
import { expiryHeader } from './expiry-header.js';
import { PUBLIC } from './public.decorator.js';

/** Lets in who has a valid API key, and tells on the response when the key expires. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly isPublic: HandlerFact<boolean>;

  constructor(
    private readonly authenticator: Authenticator,
    reflector: Reflector,
  ) {
    this.isPublic = isMarked(reflector, PUBLIC);
  }

  /** @throws ApiError `missing_api_key` or `invalid_api_key`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic.of(context)) {
      return true;
    }
    const http = context.switchToHttp();
    const { client, refusal } = await this.authenticator.authenticate(http.getRequest<FastifyRequest>());
    if (refusal !== null) {
      throw refusal;
    }
    http.getResponse<FastifyReply>().headers(expiryHeader(client));
    return true;
  }
}
