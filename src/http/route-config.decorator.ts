import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

/**
 * Adds facts to a route's Fastify configuration, beside those that other decorators put there; NestJS's own
 * `@RouteConfig()` would put them in their place. A request has them from the moment its route is found, before any
 * guard, and also when it ends in an error.
 */
export const AddRouteConfig =
  (facts: Partial<FastifyContextConfig>): MethodDecorator =>
  (target, name, descriptor) => {
    const { KEY } = RouteConfig(facts);
    const others = Reflect.getMetadata(KEY, descriptor.value as object) as FastifyContextConfig | undefined;
    RouteConfig({ ...others, ...facts })(target, name, descriptor);
  };
