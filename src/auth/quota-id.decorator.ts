import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../principal.js';

/** A handler's parameter: the id of the quota whose key the request came with. */
export const QuotaId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()).quota.id,
);
