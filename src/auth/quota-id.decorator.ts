import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** A handler's parameter: the id of the quota whose key the request came with. */
export const QuotaId = createParamDecorator(async (_data: unknown, context: ExecutionContext) => {
  const caller = await context.switchToHttp().getRequest<FastifyRequest>().caller;
  return caller?.client?.quota.id;
});
