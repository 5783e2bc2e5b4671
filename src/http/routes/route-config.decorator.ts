import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

const { KEY } = RouteConfig({});
const handlers = new Set<object>();

/**
 * Adds facts to a route's Fastify configuration, which requests have from the start; NestJS's own
 * `@RouteConfig()` replaces all others.
 */
export const AddRouteConfig =
  (facts: Partial<FastifyContextConfig>): MethodDecorator =>
  (target, name, descriptor) => {
    const handler = descriptor.value as object;
    const others = Reflect.getMetadata(KEY, handler) as FastifyContextConfig | undefined;
    RouteConfig({ ...others, ...facts })(target, name, descriptor);
    handlers.add(handler);
  };

/**
 * Returns the configurations of all routes whose controllers are loaded, also where no server has them, as in
 * the terminal.
 */
export function declaredRouteConfigs(): FastifyContextConfig[] {
  return [...handlers].map((handler) => Reflect.getMetadata(KEY, handler) as FastifyContextConfig);
}
