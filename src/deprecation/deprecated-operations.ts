import { Injectable } from '@nestjs/common';
import type { RouteOptions } from 'fastify';
import { routeTemplate } from '../http/request-line.js';
import { type Brownout, brownoutFault, lastBrownout } from './rules/brownout.js';
import type { Deprecation } from './rules/lifecycle.js';

/** A deprecated operation as its route declares it. */
interface DeprecatedOperation extends Deprecation {
  operation: string;
  method: string;
  /** The path in the form of the OpenAPI document, such as `/v1/pets/{petId}`. */
  path: string;
}

/** The deprecated operations of all routes, by name. */
@Injectable()
export class DeprecatedOperations extends Map<string, DeprecatedOperation> {
  /**
   * Adds the operation of a route if it is deprecated.
   *
   * @throws Error that names the route if its brownouts are wrong.
   */
  addRoute({ method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>): void {
    const { operation, deprecation } = config ?? {};
    // Fastify adds a route for HEAD, with the same operation, to each route for GET.
    const name = [method].flat().find((each) => each !== 'HEAD');
    if (operation !== undefined && deprecation !== undefined && name !== undefined) {
      const fault = brownoutFault(deprecation);
      if (fault !== null) {
        throw new Error(`The route ${name} ${url} is declared wrongly: ${fault}`);
      }
      this.set(operation, { operation, method: name, path: routeTemplate(url), ...deprecation });
    }
  }

  /** Returns the last brownout of an operation that had begun at `nowMs`, at most `maxAgeMs` before; null for none. */
  lastBrownout(operation: string, nowMs: number, maxAgeMs: number): Brownout | null {
    const declared = this.get(operation);
    const last = declared === undefined ? null : lastBrownout(declared, nowMs);
    return last === null || last.from.getTime() < nowMs - maxAgeMs ? null : last;
  }
}
