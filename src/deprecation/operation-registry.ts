import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { RouteOptions } from 'fastify';
import { type Operation, registryFaults } from './registry-faults.js';

/** Declarations of routes that do not hold; the message has a line for each. */
export class InvalidRegistryError extends Error {}

/** All operations with their lifecycle, as their routes declare it. The service does not start where a declaration does not hold. */
@Injectable()
export class OperationRegistry implements OnApplicationBootstrap {
  private readonly operations: Operation[] = [];

  /** Takes note of a route, also of one that declares nothing. */
  add({ method, url, config = {} }: RouteOptions): void {
    const { operation, stability, deprecation } = config;
    const lifecycle = { ...(stability && { stability }), ...(deprecation && { deprecation }) };
    for (const name of [method].flat()) {
      this.operations.push({ name: operation ?? `${name} ${url}`, method: name, path: url, ...lifecycle });
    }
  }

  /** @throws InvalidRegistryError naming every operation whose declaration does not hold. */
  onApplicationBootstrap(): void {
    const faults = registryFaults(this.operations);
    if (faults.length > 0) {
      throw new InvalidRegistryError(`The declarations of routes do not hold:\n${faults.join('\n')}`);
    }
  }
}
