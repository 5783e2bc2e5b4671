import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** A handler's parameter: the id of the administrator's key that the request came with. */
export const Administrator = createParamDecorator(async (_data: unknown, context: ExecutionContext) => {
  const caller = await context.switchToHttp().getRequest<FastifyRequest>().caller;
  return caller?.client?.keyId;
});
