import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { Connections, SHUTTING_DOWN } from '../server/connections.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import type { RequestHook, ResponseInterceptor } from './hooks.js';
import { operationName } from './request-line.js';
import { toNetwork } from './rules/network.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The slot that `ConcurrencyLimit` gave it; undefined before, and once its response is made. */
    slot: Slot | undefined;
    /** Whether `ConcurrencyLimit` denied it. */
    isShed: boolean;
  }
}

/** One of an operation's slots, while the response of a request is made. */
interface Slot {
  load: OperationLoad;
  request: FastifyRequest;
  /** What the request counts against, as far as is known before it is authenticated; undefined until slots are short. */
  bucketKey?: string;
}

/** The requests of one operation. */
interface OperationLoad {
  readonly operation: string;
  /** In no order. Not a Set, because outgrown tables of a Set keep its former items in memory until a full collection. */
  readonly slots: Slot[];
  /** Requests denied since the start. */
  shed: number;
}

/** Created once, because an overloaded server has no time for stack traces. */
export const OVERLOADED = new ApiError(
  'service_unavailable',
  'This server is overloaded. Try again shortly.',
);

/**
 * Bounds the requests in flight of each operation to `MAX_CONCURRENT_REQUESTS` slots. Excess requests get 503 immediately, so a
 * request waits for at most that many others, and a slow operation takes no slot of another. The last third of the slots is for
 * buckets that have less than a third, so no bucket takes an operation from the others.
 */
@Injectable()
export class ConcurrencyLimit implements RequestHook, ResponseInterceptor {
  private readonly byOperation = new Map<string, OperationLoad>();
  private readonly maxSlots: number;

  constructor(
    private readonly connections: Connections,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'MAX_CONCURRENT_REQUESTS'>,
  ) {
    this.maxSlots = environment.MAX_CONCURRENT_REQUESTS;
  }

  all(): OperationLoad[] {
    return [...this.byOperation.values()];
  }

  /** Takes a slot for a request that needs a key; returns the error of a request that gets none. */
  onRequest(request: FastifyRequest): ApiError | null {
    if (this.connections.refusing.aborted) {
      return SHUTTING_DOWN;
    }
    if (request.requiredRole === null) {
      return null;
    }
    const load = this.findLoad(operationName(request));
    const slot: Slot = { load, request };
    if (!this.isFree(slot)) {
      load.shed += 1;
      request.isShed = true;
      return OVERLOADED;
    }
    request.slot = slot;
    load.slots.push(slot);
    return null;
  }

  /** Frees the slot of a request while it waits for its client. */
  pause({ slot }: FastifyRequest): void {
    const index = slot?.load.slots.indexOf(slot) ?? -1;
    if (index !== -1) {
      slot?.load.slots.splice(index, 1);
    }
  }

  /** Gives a paused request its slot back, unless its response is made; it continues without one if none is free for it. */
  resume({ slot }: FastifyRequest): void {
    if (slot !== undefined && this.isFree(slot)) {
      slot.load.slots.push(slot);
    }
  }

  /** Frees the slot of a request whose response is made. */
  intercept(request: FastifyRequest): void {
    this.pause(request);
    request.slot = undefined;
  }

  private isFree(slot: Slot): boolean {
    const { slots } = slot.load;
    if (slots.length < (this.maxSlots * 2) / 3) {
      return true;
    }
    // An overloaded server does not compare all slots.
    return slots.length < this.maxSlots && countSlots(slots, slot) < Math.floor(this.maxSlots / 3);
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

/** Returns the number of slots that the bucket of a slot has. */
function countSlots(slots: Slot[], slot: Slot): number {
  return slots.filter((other) => findBucketKey(other) === findBucketKey(slot)).length;
}

function findBucketKey(slot: Slot): string {
  const { lastKnownPrincipal, ip } = slot.request;
  slot.bucketKey ??= lastKnownPrincipal?.quota.bucketKey ?? toNetwork(ip);
  return slot.bucketKey;
}
