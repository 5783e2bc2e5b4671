import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import type { ResponseHook } from '../responses/response-hook.js';
import { ApiError } from '../routes/api-error.js';
import { usualMessages } from '../routes/catalogue.js';
import type { MetricsRegistry, MetricsSource } from '../../process/metrics-registry.js';
import { Connections, SHUTTING_DOWN } from './connections.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { operationName } from '../routes/request-line.js';
import { toNetwork } from '../rules/network.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether `ConcurrencyLimit` denied it. */
    isShed: boolean;
  }
}

interface OperationSlots {
  readonly operation: string;
  /** Not a Set, because outgrown tables of a Set keep its former items in memory until a full collection. */
  readonly slots: FastifyRequest[];
  shed: number;
}

// Created once, because an overloaded server has no time for stack traces.
const OVERLOADED = new ApiError('service_unavailable', 'This server is overloaded. Try again shortly.');
const TOO_MANY = new ApiError('too_many_concurrent_requests', usualMessages.too_many_concurrent_requests);

/**
 * Bounds the requests in flight of each operation to `MAX_CONCURRENT_REQUESTS_PER_OPERATION` slots. Excess
 * requests are denied immediately, so a request waits for at most that many others, and a slow operation
 * takes no slot of another. Once two thirds of the slots are taken, a client may have a third, so none takes
 * an operation from the others: beyond its share it gets 429; with less, if there is no slot, 503.
 */
@Injectable()
export class ConcurrencyLimit implements MetricsSource, ResponseHook {
  private readonly byOperation = new Map<string, OperationSlots>();
  /** The quota or network of a request, once slots are short. */
  private readonly owners = new WeakMap<FastifyRequest, string>();
  private readonly maxSlots: number;
  private readonly share: number;

  constructor(
    private readonly connections: Connections,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'MAX_CONCURRENT_REQUESTS_PER_OPERATION'>,
  ) {
    this.maxSlots = environment.MAX_CONCURRENT_REQUESTS_PER_OPERATION;
    this.share = Math.max(1, Math.floor(this.maxSlots / 3));
  }

  all(): OperationSlots[] {
    return [...this.byOperation.values()];
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge('requests_in_flight', 'Requests that hold a slot of their operation.', ['operation'], () =>
      this.all().map(({ operation, slots }) => [slots.length, operation]),
    );
    metrics.counter('requests_shed_total', 'Requests denied for lack of a slot.', ['operation'], () =>
      this.all().map(({ operation, shed }) => [shed, operation]),
    );
  }

  readonly preValidation: preValidationHookHandler = (request, _reply, done) => done(this.takeSlot(request));

  /** Takes a slot for a request that needs a key; returns the error of one that gets none. */
  takeSlot(request: FastifyRequest): ApiError | undefined {
    if (this.connections.refusing.aborted) {
      return SHUTTING_DOWN;
    }
    if (request.requiredRole === null) {
      return undefined;
    }
    const operation = this.findSlots(operationName(request));
    const error = this.findError(operation.slots, request);
    if (error !== undefined) {
      return this.shed(request, error);
    }
    operation.slots.push(request);
    return undefined;
  }

  /** Counts a request that is denied without being counted, and returns its error. */
  shed(request: FastifyRequest, error = OVERLOADED): ApiError {
    this.findSlots(operationName(request)).shed += 1;
    request.isShed = true;
    return error;
  }

  onSend(request: FastifyRequest): void {
    const slots = this.byOperation.get(operationName(request))?.slots ?? [];
    const index = slots.indexOf(request);
    if (index !== -1) {
      slots.splice(index, 1);
    }
  }

  private findError(slots: FastifyRequest[], request: FastifyRequest): ApiError | undefined {
    if (slots.length < (this.maxSlots * 2) / 3) {
      return undefined;
    }
    const owner = this.findOwner(request);
    if (slots.filter((other) => this.findOwner(other) === owner).length >= this.share) {
      return TOO_MANY;
    }
    return slots.length < this.maxSlots ? undefined : OVERLOADED;
  }

  private findOwner(request: FastifyRequest): string {
    const owner = this.owners.get(request) ?? request.lastKnownPrincipal?.quota.id ?? toNetwork(request.ip);
    this.owners.set(request, owner);
    return owner;
  }

  private findSlots(operation: string): OperationSlots {
    const found = this.byOperation.get(operation) ?? { operation, slots: [], shed: 0 };
    this.byOperation.set(operation, found);
    return found;
  }
}
