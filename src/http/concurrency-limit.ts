import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import type { MetricsRegistry, MetricsSource } from '../metrics/metrics-registry.js';
import { Connections, SHUTTING_DOWN } from './connections.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { operationName } from './request-line.js';
import { toNetwork } from './rules/network.js';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The operation whose slot `ConcurrencyLimit` gave it; undefined before, and once its response is made.
     */
    load: OperationLoad | undefined;
    /**
     * The id of the quota, or the network, that its slot counts for, as far as is known before it is
     * authenticated. Undefined until slots are short.
     */
    slotOwner: string | undefined;
    /** Whether `ConcurrencyLimit` denied it. */
    isShed: boolean;
  }
}

/** The requests of one operation. */
interface OperationLoad {
  readonly operation: string;
  /**
   * Those that hold a slot, in no order. Not a Set, because outgrown tables of a Set keep its former items in
   * memory until a full collection.
   */
  readonly slots: FastifyRequest[];
  /** Requests denied since the start. */
  shed: number;
}

/** Created once, because an overloaded server has no time for stack traces. */
const OVERLOADED = new ApiError('service_unavailable', 'This server is overloaded. Try again shortly.');

/**
 * Bounds the requests in flight of each operation to `MAX_CONCURRENT_REQUESTS_PER_OPERATION` slots. Excess
 * requests get 503 immediately, so a request waits for at most that many others, and a slow operation takes
 * no slot of another. The last third of the slots is for clients that have less than a third, so no client
 * takes an operation from the others.
 */
@Injectable()
export class ConcurrencyLimit implements MetricsSource {
  private readonly byOperation = new Map<string, OperationLoad>();
  private readonly maxSlots: number;

  constructor(
    private readonly connections: Connections,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'MAX_CONCURRENT_REQUESTS_PER_OPERATION'>,
  ) {
    this.maxSlots = environment.MAX_CONCURRENT_REQUESTS_PER_OPERATION;
  }

  all(): OperationLoad[] {
    return [...this.byOperation.values()];
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge('requests_in_flight', 'Requests that hold a slot of their operation.', ['operation'], () =>
      this.all().map(({ operation, slots }) => [slots.length, operation]),
    );
    metrics.counter('requests_shed_total', 'Requests denied by overload, with 503.', ['operation'], () =>
      this.all().map(({ operation, shed }) => [shed, operation]),
    );
  }

  /** Takes a slot for a request that needs a key; returns the error of a request that gets none. */
  takeSlot(request: FastifyRequest): ApiError | undefined {
    if (this.connections.refusing.aborted) {
      return SHUTTING_DOWN;
    }
    if (request.requiredRole === null) {
      return undefined;
    }
    const load = this.findLoad(operationName(request));
    if (!this.isFree(load, request)) {
      return this.shed(request);
    }
    request.load = load;
    load.slots.push(request);
    return undefined;
  }

  /** Counts a request that is denied because of overload, and returns its error. */
  shed(request: FastifyRequest): ApiError {
    this.findLoad(operationName(request)).shed += 1;
    request.isShed = true;
    return OVERLOADED;
  }

  /** Frees the slot of a request whose response is made. */
  freeSlot(request: FastifyRequest): void {
    const index = request.load?.slots.indexOf(request) ?? -1;
    if (index !== -1) {
      request.load?.slots.splice(index, 1);
    }
    request.load = undefined;
  }

  private isFree({ slots }: OperationLoad, request: FastifyRequest): boolean {
    if (slots.length < (this.maxSlots * 2) / 3) {
      return true;
    }
    // An overloaded server does not compare all slots.
    return slots.length < this.maxSlots && countSlots(slots, request) < Math.floor(this.maxSlots / 3);
  }

  private findLoad(operation: string): OperationLoad {
    let load = this.byOperation.get(operation);
    if (load === undefined) {
      load = { operation, slots: [], shed: 0 };
      this.byOperation.set(operation, load);
    }
    return load;
  }
}

/** Returns the number of slots that the client of a request has. */
function countSlots(slots: FastifyRequest[], request: FastifyRequest): number {
  const owner = findOwner(request);
  return slots.filter((other) => findOwner(other) === owner).length;
}

function findOwner(request: FastifyRequest): string {
  request.slotOwner ??= request.lastKnownPrincipal?.quota.id ?? toNetwork(request.ip);
  return request.slotOwner;
}
