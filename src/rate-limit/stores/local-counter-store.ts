import { LRUCache } from 'lru-cache';
import {
  type BucketState,
  decisionFor,
  previewDecision,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import { DAY_MS, toDay, toMinute, windowNumber, type WindowState } from '../rules/windows.js';

/** Quotas, and as many addresses: about 20 MB if all are used. */
const MAX_BUCKETS = 50_000;

/** A bucket as a row of `rate_limit_counters` has it. */
interface Counter extends Omit<BucketState, 'nowMs'> {
  /** The requests among `minuteUsed`, and among `dayUsed`, that were allowed here. */
  minuteLocal: number;
  dayLocal: number;
  /** The level of the last ban among the ban durations, from 1. */
  banLevel: number;
}

/** Counts in the memory of this process, for this process alone, by the rules of the shared stores. */
export class LocalCounterStore {
  /** The least recently used is dropped. Addresses are apart: one person may have billions, which must not crowd out quotas. */
  private readonly counters: Record<'quotas' | 'addresses', LRUCache<string, Counter>>;

  /**
   * @param now returns the time in milliseconds since the Unix epoch.
   * @param banDurations milliseconds that the first ban lasts, the next, and so on; empty if bans are off.
   * @param maxBuckets the maximum number of quotas, and of addresses. A bucket that was dropped has full windows again.
   */
  constructor(
    private readonly now: () => number,
    private readonly banDurations: readonly number[],
    maxBuckets = MAX_BUCKETS,
  ) {
    this.counters = {
      quotas: new LRUCache({ max: maxBuckets }),
      addresses: new LRUCache({ max: maxBuckets }),
    };
  }

  /** Counts one request as `consume.sql` does. */
  consume(request: RateLimitRequest): RateLimitDecision {
    const { perMinute, perDay } = request;
    const { counter, nowMs } = this.read(request);
    let [allowed, denied] = [0, 0];
    if (!this.isBanned(counter, nowMs)) {
      allowed = Number(counter.minuteUsed < perMinute && (perDay === null || counter.dayUsed < perDay));
      denied = 1 - allowed;
      counter.minuteUsed += allowed;
      counter.dayUsed += allowed;
      counter.minuteLocal += allowed;
      counter.dayLocal += allowed;
      counter.refusals += denied;
      if (denied > 0 && perDay !== null && counter.refusals >= perMinute) {
        this.startBan(counter, nowMs);
      }
    }
    this.countersLike(request).set(request.bucketKey, counter);
    return decisionFor({ ...counter, nowMs, allowed, denied }, request, 0, this.banDurations);
  }

  /** Returns the decision that a request would get now. */
  peek(request: RateLimitRequest): RateLimitDecision {
    const { counter, nowMs } = this.read(request);
    return previewDecision({ ...counter, nowMs }, request, this.banDurations);
  }

  /**
   * Stores the counts of another store's decision, beside what was allowed here in the same windows: so however often the other store
   * comes and goes, no more than one limit is allowed here. A decision lacks the ban level, so its ban counts as the first: the next
   * one may be shorter than in that store.
   */
  learn(request: RateLimitRequest, { windows, ban, nowMs, refusalsUntilBan }: RateLimitDecision): void {
    const [minuteWindow, dayWindow] = windows;
    const minute = minuteWindow === undefined ? toMinute(nowMs) : windowNumber(minuteWindow);
    const day = dayWindow === undefined ? toDay(nowMs) : windowNumber(dayWindow);
    const before = this.countersLike(request).get(request.bucketKey);
    // A window that begins later here, by a clock that was ahead, is the one that is open there.
    const minuteLocal = before !== undefined && before.minute >= minute ? before.minuteLocal : 0;
    const dayLocal = before !== undefined && before.day >= day ? before.dayLocal : 0;
    const hasRefusals = ban === null && refusalsUntilBan !== null && minuteWindow !== undefined;
    this.countersLike(request).set(request.bucketKey, {
      minute,
      minuteUsed: usedIn(minuteWindow) + minuteLocal,
      minuteLocal,
      day,
      dayUsed: usedIn(dayWindow) + dayLocal,
      dayLocal,
      refusals: hasRefusals ? Math.max(0, minuteWindow.limit - refusalsUntilBan) : 0,
      bannedUntil: ban === null ? null : new Date(ban.untilMs),
      banLevel: ban === null ? 0 : 1,
    });
  }

  /** Returns when the ban that it ends would have ended, or null when there was none. */
  liftBan(bucketKey: string): Date | null {
    const counter = this.counters.quotas.get(bucketKey);
    if (counter === undefined || !this.isBanned(counter, this.now())) {
      return null;
    }
    const until = counter.bannedUntil;
    Object.assign(counter, { bannedUntil: new Date(Math.floor(this.now())), refusals: 0 });
    return until;
  }

  /** Returns the counters of all quotas, or those of all addresses. */
  private countersLike({ perDay }: RateLimitRequest): LRUCache<string, Counter> {
    return perDay === null ? this.counters.addresses : this.counters.quotas;
  }

  /** Returns a copy of what is known of a bucket, in the windows that are open now. */
  private read(request: RateLimitRequest): { counter: Counter; nowMs: number } {
    const nowMs = Math.floor(this.now());
    const before = this.countersLike(request).get(request.bucketKey) ?? newCounter(nowMs);
    return { counter: rollOver(before, toMinute(nowMs), toDay(nowMs)), nowMs };
  }

  private isBanned(counter: Counter, nowMs: number): counter is Counter & { bannedUntil: Date } {
    const { bannedUntil } = counter;
    return this.banDurations.length > 0 && bannedUntil !== null && bannedUntil.getTime() > nowMs;
  }

  /** Starts a ban one level above the last, which falls by one for each full 24 hours since its end; the last level repeats. */
  private startBan(counter: Counter, nowMs: number): void {
    const fallen =
      counter.bannedUntil === null ? 0 : Math.trunc((nowMs - counter.bannedUntil.getTime()) / DAY_MS);
    const level = Math.min(this.banDurations.length, 1 + Math.max(0, counter.banLevel - fallen));
    const durationMs = this.banDurations[level - 1];
    if (durationMs !== undefined) {
      const bannedUntil = new Date(nowMs + durationMs);
      Object.assign(counter, { banLevel: level, bannedUntil, refusals: 0 });
    }
  }
}

function usedIn(window: WindowState | undefined): number {
  return window === undefined ? 0 : window.limit - window.remaining;
}

function newCounter(nowMs: number): Counter {
  return {
    minute: toMinute(nowMs),
    minuteUsed: 0,
    minuteLocal: 0,
    day: toDay(nowMs),
    dayUsed: 0,
    dayLocal: 0,
    refusals: 0,
    bannedUntil: null,
    banLevel: 0,
  };
}

/** Returns a copy with these windows if they are later: a window never goes back. */
function rollOver(counter: Counter, minute: number, day: number): Counter {
  return {
    ...counter,
    ...(minute > counter.minute && { minute, minuteUsed: 0, minuteLocal: 0, refusals: 0 }),
    ...(day > counter.day && { day, dayUsed: 0, dayLocal: 0 }),
  };
}
