import {
  type CounterStore,
  PartialReconcileError,
  type UnreportedUsage,
  wasNotCounted,
} from './counter-store.js';
import { BucketCache } from './local-counter-store.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { dayOf, minuteOf } from '../rules/windows.js';

/** Buckets in one report: few enough for the deadline of the store. */
const REPORT_SIZE = 1000;
const MAX_UNREPORTED_BUCKETS = 50_000;

/**
 * Reports to the shared store what this replica allowed and the store has surely not counted, one report at a time. Usage that may have
 * been added is never reported again, so that nothing counts twice.
 */
export class UsageReporter {
  /** Whether nothing is unreported, nor being reported. */
  isDone = true;
  private readonly unreported: BucketCache<UnreportedUsage>;
  private reporting: Promise<void> | null = null;

  /** @param maxBuckets the maximum number of quotas, and of addresses. The usage of a bucket that is dropped is never reported. */
  constructor(
    private readonly shared: CounterStore,
    maxBuckets = MAX_UNREPORTED_BUCKETS,
  ) {
    this.unreported = new BucketCache(maxBuckets);
  }

  /** The number of buckets with unreported usage. */
  get size(): number {
    return this.unreported.quotas.size + this.unreported.addresses.size;
  }

  /** Adds one request that was allowed. */
  add({ bucketKey, perMinute, perDay }: RateLimitRequest, { nowMs }: RateLimitDecision): void {
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    this.isDone = false;
    this.restore([{ bucketKey, perMinute, perDay, minute, minuteUsed: 1, day, dayUsed: 1 }]);
  }

  /**
   * Reports all usage that was added until now, or joins the report in flight.
   *
   * @throws CounterStoreError when the store is still away.
   */
  report(): Promise<void> {
    this.reporting ??= this.reportAll().finally(() => {
      this.reporting = null;
      this.isDone = this.size === 0;
    });
    return this.reporting;
  }

  /** Removes and returns the usage of at most `count` buckets: quotas first, and those used last. */
  next(count: number): UnreportedUsage[] {
    const removed: UnreportedUsage[] = [];
    for (const cache of [this.unreported.quotas, this.unreported.addresses]) {
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
      const before = this.unreported.get(usage);
      this.unreported.set(usage, before === undefined ? usage : merged(before, usage));
    }
  }

  private async reportAll(): Promise<void> {
    // What is allowed meanwhile, and what is left at the end, goes before the next query.
    for (let isMore = this.size > 0; isMore; isMore = this.size >= REPORT_SIZE) {
      const usage = this.next(REPORT_SIZE);
      try {
        await this.shared.reconcile(usage);
      } catch (error) {
        this.restore(notReconciled(usage, error));
        throw error;
      }
    }
  }
}

/** Returns what the store has surely not added of a report that failed. */
function notReconciled(usage: readonly UnreportedUsage[], error: unknown): readonly UnreportedUsage[] {
  if (error instanceof PartialReconcileError) {
    return error.notReconciled;
  }
  return wasNotCounted(error) ? usage : [];
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
