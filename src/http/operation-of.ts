import type { FastifyRequest } from 'fastify';

/** The name of all that met no operation, as its path may be anything. */
const NO_OPERATION = 'none';

/** The name of the operation that a request met, as the OpenAPI document has it; `none` for all others. */
export function operationOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.config.operation ?? NO_OPERATION;
}
