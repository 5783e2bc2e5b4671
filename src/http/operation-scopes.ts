import { Injectable, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import type { Scope } from './rules/scope.js';

/** The scopes of all operations, as their routes declare them. */
@Injectable()
export class OperationScopes {
  private readonly byOperation = new Map<string, Scope>();

  /** Adds the operation of a route if it needs a scope. */
  addRoute({ config }: Pick<RouteOptions, 'config'>): void {
    const { operation, scope } = config ?? {};
    if (operation !== undefined && scope !== undefined && scope !== null) {
      this.byOperation.set(operation, scope);
    }
  }

  /** Adds all operations of a controller, where no application has its routes. */
  addController(controller: Type): void {
    const { KEY } = RouteConfig({});
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(controller.prototype))) {
      this.addRoute({ config: Reflect.getMetadata(KEY, value as object) as FastifyContextConfig });
    }
  }

  find(operation: string): Scope | undefined {
    return this.byOperation.get(operation);
  }
}
