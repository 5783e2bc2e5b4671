import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

const { KEY } = RouteConfig({});

/**
 * Adds facts to a route's Fastify configuration, which requests have from the start; NestJS's own
 * `@RouteConfig()` replaces all others.
 */
export const AddRouteConfig =
  (facts: Partial<FastifyContextConfig>): MethodDecorator =>
  (target, name, descriptor) => {
    const others = declaredConfig(descriptor.value as object);
    RouteConfig({ ...others, ...facts })(target, name, descriptor);
  };

/** Returns the facts that the handler of a route has so far. */
export function declaredConfig(handler: object): FastifyContextConfig | undefined {
  return Reflect.getMetadata(KEY, handler) as FastifyContextConfig | undefined;
}
