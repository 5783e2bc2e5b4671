import type { UnreportedUsage } from './counter-store.js';
import { BucketCache } from './local-counter-store.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { dayOf, minuteOf } from '../rules/windows.js';

/** What this replica allowed and the shared store has surely not counted. */
export class UnreportedUsageLog {
  private readonly usages: BucketCache<UnreportedUsage>;

  /** @param maxBuckets the maximum number of quotas, and of addresses. The usage of a bucket that is dropped is never reported. */
  constructor(maxBuckets: number) {
    this.usages = new BucketCache(maxBuckets);
  }

  /** The number of buckets with usage. */
  get size(): number {
    return this.usages.quotas.size + this.usages.addresses.size;
  }

  /** Adds one request that was allowed. */
  add({ bucketKey, perMinute, perDay }: RateLimitRequest, { nowMs }: RateLimitDecision): void {
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    this.restore([{ bucketKey, perMinute, perDay, minute, minuteUsed: 1, day, dayUsed: 1 }]);
  }

  /** Removes and returns the usage of at most `count` buckets: quotas first, and those used last. */
  next(count: number): UnreportedUsage[] {
    const removed: UnreportedUsage[] = [];
    for (const cache of [this.usages.quotas, this.usages.addresses]) {
      for (const usage of cache.values()) {
        if (removed.length === count) {
          return removed;
        }
        cache.delete(usage.bucketKey);
        removed.push(usage);
      }
    }
    return removed;
  }

  /** Adds usage that could not be reported. */
  restore(usages: readonly UnreportedUsage[]): void {
    for (const usage of usages) {
      const before = this.usages.get(usage);
      this.usages.set(usage, before === undefined ? usage : merged(before, usage));
    }
  }
}

/** Of two windows only the later matters, and the counts of the same window add up. */
function merged(before: UnreportedUsage, usage: UnreportedUsage): UnreportedUsage {
  return {
    ...(usage.minute >= before.minute ? usage : before),
    minuteUsed: usedOfLater(before.minute, before.minuteUsed, usage.minute, usage.minuteUsed),
    day: Math.max(before.day, usage.day),
    dayUsed: usedOfLater(before.day, before.dayUsed, usage.day, usage.dayUsed),
  };
}

function usedOfLater(window: number, used: number, otherWindow: number, otherUsed: number): number {
  return (window >= otherWindow ? used : 0) + (otherWindow >= window ? otherUsed : 0);
}
