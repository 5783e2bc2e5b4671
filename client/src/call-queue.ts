/** A call that waits until its next attempt may be sent. */
export interface QueuedCall {
  /** Calls are sent in the order of their numbers, which are given in the order of arrival. */
  number: number;
  /** The call is not sent while this many requests are in flight. */
  maxConcurrentRequests: number;
  /** When its time is over, in milliseconds by the clock of the pacer. */
  deadlineMs: number;
  /** Milliseconds that it may wait for the limit. */
  maxRateLimitWaitMs: number;
  /** Sends it, at this time by the same clock. */
  resolve: (nowMs: number) => void;
  reject: (reason: unknown) => void;
}

/**
 * Waiting calls in the order of their numbers. A call that returns for another attempt precedes all that
 * arrived later.
 */
export class CallQueue implements Iterable<QueuedCall> {
  /**
   * They are sorted. Each was sent before, so they are few, and their numbers are below those in `arrived`.
   */
  private readonly returned: QueuedCall[] = [];
  private readonly arrived = new Set<QueuedCall>();
  private lastArrival = -Infinity;

  get size(): number {
    return this.returned.length + this.arrived.size;
  }

  /** @returns how many calls precede it. */
  add(call: QueuedCall): number {
    if (call.number > this.lastArrival) {
      this.lastArrival = call.number;
      this.arrived.add(call);
      return this.size - 1;
    }
    const later = this.returned.findIndex(({ number }) => number > call.number);
    const index = later === -1 ? this.returned.length : later;
    this.returned.splice(index, 0, call);
    return index;
  }

  /** @returns whether it was still in the queue. */
  remove(call: QueuedCall): boolean {
    const index = this.returned.indexOf(call);
    if (index !== -1) {
      this.returned.splice(index, 1);
      return true;
    }
    return this.arrived.delete(call);
  }

  /** A call may be removed during the iteration. */
  *[Symbol.iterator](): Generator<QueuedCall, void, undefined> {
    yield* this.returned.slice();
    yield* this.arrived;
  }
}
