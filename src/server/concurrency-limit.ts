import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { operationOf } from '../http/request-path.js';

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
  /** Its index among the slots of the operation; null while it is free. */
  index: number | null;
  bucketKeyOf: () => string;
  /** Undefined until it was needed. */
  bucketKey?: string;
}

/** How long after two buckets have competed for slots each gets no more than its share. */
const SHARED_MS = 10_000;
/** Created once, as an overloaded server has no time for stack traces. */
export const OVERLOADED = new ApiError(
  'service_unavailable',
  'This server is overloaded. Try again shortly.',
);

/**
 * Objects of requests in flight, in no order. Not a Set: V8 links each table that a Set has outgrown to the next, and one such table in
 * the old generation would keep all later requests in memory until a full collection.
 */
export class InFlight<Item extends { index: number | null }> {
  readonly items: Item[] = [];

  get length(): number {
    return this.items.length;
  }

  add(item: Item): void {
    item.index ??= this.items.push(item) - 1;
  }

  /** Moves the last item to the place of this one. */
  delete(item: Item): void {
    const last = this.items.at(-1);
    if (item.index !== null && last !== undefined) {
      this.items[item.index] = last;
      last.index = item.index;
      this.items.pop();
      item.index = null;
    }
  }
}

/** The requests of one operation; times are of the monotonic clock. */
class OperationLoad {
  readonly slots = new InFlight<Slot>();
  /** Requests denied since the start. */
  shed = 0;
  /** The bucket of the last request that found most slots taken, and when. */
  lastBucketKey: string | null = null;
  lastShortAtMs = -Infinity;
  /** Until when no bucket gets more than its share. */
  sharedUntilMs = -Infinity;

  constructor(readonly operation: string) {}
}

/**
 * Bounds the requests in flight of each operation to `MAX_CONCURRENT_REQUESTS` slots. Excess requests get 503 immediately, so a
 * request waits for at most that many others, and a slow operation takes no slot of another. While two thirds of the slots are
 * taken, no bucket gets more than a third of them, unless only one sends requests.
 */
@Injectable()
export class ConcurrencyLimit {
  private readonly byOperation = new Map<string, OperationLoad>();
  private readonly maxSlots: number;
  private readonly maxShare: number;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'MAX_CONCURRENT_REQUESTS'>) {
    this.maxSlots = environment.MAX_CONCURRENT_REQUESTS;
    this.maxShare = Math.max(1, Math.floor(this.maxSlots / 3));
  }

  all(): OperationLoad[] {
    return [...this.byOperation.values()];
  }

  /**
   * Takes a slot for a request, until its response is made: unsent bytes have a bound of their own.
   *
   * @param bucketKeyOf returns what the request counts against; called only when slots are short.
   * @returns the error of a request for which there is none, else null.
   */
  take(request: FastifyRequest, bucketKeyOf: () => string): ApiError | null {
    const load = this.loadOf(operationOf(request));
    const slot: Slot = { load, index: null, bucketKeyOf };
    if (!this.hasSlotFor(load, slot)) {
      load.shed += 1;
      request.isShed = true;
      return OVERLOADED;
    }
    request.slot = slot;
    load.slots.add(slot);
    return null;
  }

  /** Frees the slot of a request while it waits for its client. */
  pause({ slot }: FastifyRequest): void {
    slot?.load.slots.delete(slot);
  }

  /** Gives a request its slot back, unless its response is made; it goes on without one if its bucket would get more than its share. */
  resume({ slot }: FastifyRequest): void {
    if (slot !== undefined && this.hasSlotFor(slot.load, slot)) {
      slot.load.slots.add(slot);
    }
  }

  /** Frees the slot of a request whose response is made. */
  release(request: FastifyRequest): void {
    this.pause(request);
    request.slot = undefined;
  }

  private hasSlotFor(load: OperationLoad, slot: Slot): boolean {
    const { slots } = load;
    if (slots.length < (this.maxSlots * 2) / 3) {
      return true;
    }
    const key = keyOf(slot);
    const nowMs = performance.now();
    const followsOther = load.lastBucketKey !== key && nowMs - load.lastShortAtMs < SHARED_MS;
    load.lastBucketKey = key;
    load.lastShortAtMs = nowMs;
    // An overloaded server does not compare all slots.
    const isFull = slots.length >= this.maxSlots;
    const others = isFull ? [] : slots.items.filter((other) => keyOf(other) !== key);
    if (followsOther || others.length > 0) {
      load.sharedUntilMs = nowMs + SHARED_MS;
    }
    const isWithinShare = slots.length - others.length < this.maxShare;
    return !isFull && (isWithinShare || nowMs >= load.sharedUntilMs);
  }

  private loadOf(operation: string): OperationLoad {
    let load = this.byOperation.get(operation);
    if (load === undefined) {
      load = new OperationLoad(operation);
      this.byOperation.set(operation, load);
    }
    return load;
  }
}

function keyOf(slot: Slot): string {
  slot.bucketKey ??= slot.bucketKeyOf();
  return slot.bucketKey;
}
