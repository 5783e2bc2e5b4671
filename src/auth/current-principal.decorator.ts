import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from './principal.js';

export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()),
);
