import { Injectable } from '@nestjs/common';
import type { RouteOptions } from 'fastify';
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

  find(operation: string): Scope | undefined {
    return this.byOperation.get(operation);
  }
}
