import { Injectable } from '@nestjs/common';
import type { RouteOptions } from 'fastify';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { routeTemplate } from '../http/connections/request-line.js';
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
export class DeprecatedOperations extends Map<string, DeprecatedOperation> implements MetricsSource {
  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge(
      'deprecated_operation_sunset_timestamp_seconds',
      'Unix time at which an operation is removed.',
      ['operation'],
      () => [...this.values()].map(({ operation, removal }) => [removal.getTime() / 1000, operation]),
    );
  }

  /** Adds the operation of a route if it is deprecated. */
  addRoute({ method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>): void {
    const { operation, deprecation } = config ?? {};
    // Fastify adds a route for HEAD, with the same operation, to each route for GET.
    const name = [method].flat().find((each) => each !== 'HEAD');
    if (operation !== undefined && deprecation !== undefined && name !== undefined) {
      this.set(operation, { operation, method: name, path: routeTemplate(url), ...deprecation });
    }
  }
}
