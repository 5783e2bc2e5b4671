import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';

/** What a client may rely on; `docs/versioning.md` says what each means. */
export type Stability = 'stable' | 'beta' | 'experimental';

declare module 'fastify' {
  interface FastifyContextConfig {
    stability?: Stability;
  }
}

/** Says how stable an operation is. Each has to say so, or the service does not start. */
export const Stability = (stability: Stability) =>
  applyDecorators(AddRouteConfig({ stability }), ApiExtension('x-stability', stability));
