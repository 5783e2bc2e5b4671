import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requirePrincipal } from '../auth/principal.js';
import { type Actor, keyActor } from './audit.js';

/** Injects the actor of the request into a parameter of a handler. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor =>
  keyActor(requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()).keyId),
);
