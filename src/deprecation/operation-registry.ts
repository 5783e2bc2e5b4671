import type { RouteOptions } from 'fastify';
import { type Operation, registryFaults } from './registry-faults.js';

/** Declarations of routes that do not hold; the message has a line for each. */
export class InvalidRegistryError extends Error {}

/** All operations, with the time that they are there for, as their routes declare it. */
export class OperationRegistry {
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
  check(): void {
    const faults = registryFaults(this.operations);
    if (faults.length > 0) {
      throw new InvalidRegistryError(`The declarations of routes do not hold:\n${faults.join('\n')}`);
    }
  }
}
