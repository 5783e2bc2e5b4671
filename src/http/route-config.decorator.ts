import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

/** Adds facts to a route's Fastify configuration, which requests have from the start; NestJS's own `@RouteConfig()` replaces all others. */
export const AddRouteConfig =
  (facts: Partial<FastifyContextConfig>): MethodDecorator =>
  (target, name, descriptor) => {
    const { KEY } = RouteConfig(facts);
    const others = Reflect.getMetadata(KEY, descriptor.value as object) as FastifyContextConfig | undefined;
    RouteConfig({ ...others, ...facts })(target, name, descriptor);
  };
