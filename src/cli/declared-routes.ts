import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, HTTPMethods, RouteOptions } from 'fastify';
import { AuditController } from '../admin/audit/audit.controller.js';
import { KeysController } from '../admin/keys/keys.controller.js';
import { PlansController } from '../admin/plans/plans.controller.js';
import { UsageController } from '../admin/usage/usage.controller.js';
import { AccountController } from '../account/account.controller.js';
import { HealthController } from '../health/health.controller.js';
import { OrdersController } from '../orders/orders.controller.js';
import { PetsController } from '../pets/pets.controller.js';
import { RateLimitController } from '../rate-limit/rate-limit.controller.js';

const CONTROLLERS: Type[] = [
  PetsController,
  OrdersController,
  RateLimitController,
  AccountController,
  KeysController,
  PlansController,
  UsageController,
  AuditController,
  HealthController,
];

/** Returns the routes that controllers declare, with their configuration: the terminal has no server that would have them. */
export function declaredRoutes(): Pick<RouteOptions, 'method' | 'url' | 'config'>[] {
  return CONTROLLERS.flatMap(routesOf);
}

function routesOf(controller: Type) {
  const { KEY } = RouteConfig({});
  const members = Object.values(Object.getOwnPropertyDescriptors(controller.prototype as object));
  const handlers = members.map(({ value }) => value as object);
  return handlers
    .filter((handler) => Reflect.hasMetadata(KEY, handler))
    .map((handler) => ({
      method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number] as HTTPMethods,
      url: `/${[...segmentsOf(controller), ...segmentsOf(handler)].join('/')}`,
      config: Reflect.getMetadata(KEY, handler) as FastifyContextConfig & { url: string },
    }));
}

/** Returns the segments of the path that a controller or a handler declares. */
function segmentsOf(declared: object): string[] {
  return (Reflect.getMetadata(PATH_METADATA, declared) as string).split('/').filter(Boolean);
}
