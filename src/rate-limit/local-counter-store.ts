import type { RateLimitDecision } from './rate-limit-decision.js';
import { bansAreOn } from './ban.js';
import { reconcile, type Counter, learn, peek, newCounter, consume } from './counter.js';
import { type RateLimitRequest, CounterStore, type UnreportedUsage } from './counter-store.js';
import { BucketCache } from './bucket-cache.js';

/** Clients, and as many strangers: about 20 MB where all are there. */
const MAX_SUBJECTS = 50_000;

/** Counts in the memory of this process, for this process alone, by the rules of the shared stores. */
export class LocalCounterStore extends CounterStore {
  private readonly counters: BucketCache<Counter>;

  /**
   * @param now its time, in milliseconds since the Unix epoch.
   * @param banDurations milliseconds that the first ban lasts, the next, and so on; empty where bans are off.
   * @param maxSubjects how many clients it remembers, and how many strangers. One that is forgotten has full windows.
   */
  constructor(
    private readonly now: () => number,
    private readonly banDurations: readonly number[],
    maxSubjects = MAX_SUBJECTS,
  ) {
    super();
    this.counters = new BucketCache(maxSubjects);
  }

  /** Never rejects. */
  async consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.consumeNow(request);
  }

  /** As `take`, at once. */
  consumeNow(request: RateLimitRequest): RateLimitDecision {
    const nowMs = Math.floor(this.now());
    const before = this.counters.get(request) ?? newCounter(nowMs);
    const { counter, decision } = consume(before, request, nowMs, this.banDurations);
    this.counters.set(request, counter);
    return decision;
  }

  /** Never rejects. */
  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.peekNow(request);
  }

  /** As `look`, at once. */
  peekNow(request: RateLimitRequest): RateLimitDecision {
    const nowMs = Math.floor(this.now());
    return peek(this.counters.get(request) ?? newCounter(nowMs), request, nowMs, this.banDurations);
  }

  /** Takes over what another store answered. In place, as this is done for every request. */
  learn(request: RateLimitRequest, decision: RateLimitDecision): void {
    let counter = this.counters.get(request);
    if (counter === undefined) {
      counter = newCounter(decision.nowMs);
      this.counters.set(request, counter);
    }
    learn(counter, decision);
  }

  /** Never rejects. */
  async reconcile(taken: UnreportedUsage[]): Promise<void> {
    const nowMs = Math.floor(this.now());
    for (const one of taken) {
      this.counters.set(one, reconcile(this.counters.get(one) ?? newCounter(0), one, nowMs));
    }
  }

  /** Never rejects. */
  async bans(): Promise<Map<string, Date>> {
    const bans = new Map<string, Date>();
    for (const [bucketKey, { bannedUntilMs }] of this.counters.quotaEntries()) {
      if (this.lasts(bannedUntilMs)) {
        bans.set(bucketKey, new Date(bannedUntilMs));
      }
    }
    return bans;
  }

  /** Never rejects. */
  async liftBan(bucketKey: string): Promise<Date | null> {
    const counter = this.counters.ofQuota(bucketKey);
    if (counter === undefined || !this.lasts(counter.bannedUntilMs)) {
      return null;
    }
    const until = new Date(counter.bannedUntilMs);
    counter.bannedUntilMs = Math.floor(this.now());
    counter.refusals = 0;
    return until;
  }

  private lasts(bannedUntilMs: number | null): bannedUntilMs is number {
    return bansAreOn(this.banDurations) && bannedUntilMs !== null && bannedUntilMs > this.now();
  }
}
