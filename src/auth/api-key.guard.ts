import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Authenticator } from './authenticator.js';
import { PUBLIC } from './public.decorator.js';

/** Lets in who has a valid API key. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly reflector: Reflector,
  ) {}

  /** @throws ApiError `missing_api_key` or `invalid_api_key`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const { refusal } = await this.authenticator.authenticate(
      context.switchToHttp().getRequest<FastifyRequest>(),
    );
    if (refusal !== null) {
      throw refusal;
    }
    return true;
  }
}
