import type { RateLimitDecision } from './rate-limit-decision.js';
import { dayOf, minuteOf } from './counter.js';
import type { RateLimitRequest, UnreportedUsage } from './counter-store.js';
import { BucketCache } from './bucket-cache.js';

/** What this replica allowed and the store has surely not counted, until the store is told. */
export class UnreportedUsageLog {
  private readonly waiting: BucketCache<UnreportedUsage>;

  /** @param maxSubjects how many clients it remembers, and how many strangers. What one more was allowed is never added. */
  constructor(maxSubjects: number) {
    this.waiting = new BucketCache(maxSubjects);
  }

  /** How many subjects it is of. */
  get size(): number {
    return this.waiting.size;
  }

  /** Adds one request that was allowed at the time of its decision. */
  add({ bucketKey, perMinute, perDay }: RateLimitRequest, { nowMs }: RateLimitDecision): void {
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    this.merge({ bucketKey, perMinute, perDay, minute, minuteUsed: 1, day, dayUsed: 1 });
  }

  /** Hands out what so many subjects were allowed, to be told. */
  takeOut(count: number): UnreportedUsage[] {
    return this.waiting.takeOut(count);
  }

  /** Takes back what could not be told. */
  takeBack(taken: readonly UnreportedUsage[]): void {
    for (const one of taken) {
      this.merge(one);
    }
  }

  private merge(more: UnreportedUsage): void {
    const stored = this.waiting.get(more);
    this.waiting.set(more, stored === undefined ? more : merged(stored, more));
  }
}

/** Of two windows only the later is of use, and those that are the same add up. */
function merged(stored: UnreportedUsage, more: UnreportedUsage): UnreportedUsage {
  const later = more.minute >= stored.minute ? more : stored;
  return {
    ...later,
    minuteUsed: sumOfLater(stored.minute, stored.minuteUsed, more.minute, more.minuteUsed),
    day: Math.max(stored.day, more.day),
    dayUsed: sumOfLater(stored.day, stored.dayUsed, more.day, more.dayUsed),
  };
}

function sumOfLater(window: number, used: number, otherWindow: number, otherUsed: number): number {
  return (window >= otherWindow ? used : 0) + (otherWindow >= window ? otherUsed : 0);
}
