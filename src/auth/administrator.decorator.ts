import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../principal.js';

/** A handler's parameter: the id of the administrator's key that the request came with. */
export const Administrator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()).keyId,
);
