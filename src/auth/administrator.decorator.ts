import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { clientOf } from '../client.js';

/** A handler's parameter: the id of the administrator's key that the request came with. */
export const Administrator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    clientOf(context.switchToHttp().getRequest<FastifyRequest>()).keyId,
);
