import { LRUCache } from 'lru-cache';
import { banThreshold } from '../rules/ban.js';
import {
  type BucketState,
  decisionFor,
  isBanned,
  previewDecision,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import { toDay, toMinute, windowNumber, type WindowState } from '../rules/windows.js';

/** Quotas, and as many addresses: about 20 MB if all are used. */
const MAX_BUCKETS = 50_000;

interface Counter extends BucketState {
  /** The requests among `minuteUsed`, and among `dayUsed`, that were allowed here. */
  minuteLocal: number;
  dayLocal: number;
}

const UNUSED: Readonly<Counter> = {
  minute: 0,
  minuteUsed: 0,
  minuteLocal: 0,
  day: 0,
  dayUsed: 0,
  dayLocal: 0,
  denials: 0,
  bannedUntilMs: null,
  nowMs: 0,
};

/** Counts in the memory of this process, for this process alone. It starts no bans; a known one goes on. */
export class LocalCounterStore {
  /** Addresses are kept apart, because one client can use billions of them. */
  private readonly counters: Record<'quotas' | 'addresses', LRUCache<string, Counter>>;

  /**
   * @param now returns the time in milliseconds since the Unix epoch.
   * @param banDurations those of the other store, for the number of denials until a ban.
   * @param maxBuckets the maximum of quotas, and of addresses; the least recently used are forgotten.
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

  /** Counts one request as `consume.sql` does, but for bans. */
  consume(request: RateLimitRequest): RateLimitDecision {
    const { perMinute, perDay } = request;
    const counter = this.read(request);
    let [allowed, denied] = [0, 0];
    if (!isBanned(counter)) {
      allowed = Number(counter.minuteUsed < perMinute && (perDay === null || counter.dayUsed < perDay));
      denied = 1 - allowed;
      counter.minuteUsed += allowed;
      counter.dayUsed += allowed;
      counter.minuteLocal += allowed;
      counter.dayLocal += allowed;
      counter.denials += denied;
    }
    this.countersLike(request).set(request.bucketKey, counter);
    return decisionFor({ ...counter, allowed, denied }, request, banThreshold(request, this.banDurations));
  }

  peek(request: RateLimitRequest): RateLimitDecision {
    return previewDecision(this.read(request), request, banThreshold(request, this.banDurations));
  }

  /**
   * Stores the counts of another store's decision, and adds what was allowed here in the same windows, so
   * that no more than one limit is allowed here, however often the other store comes and goes.
   */
  learn(request: RateLimitRequest, { windows, ban, nowMs, denials }: RateLimitDecision): void {
    const [minuteWindow, dayWindow] = windows;
    const minute = minuteWindow === undefined ? toMinute(nowMs) : windowNumber(minuteWindow);
    const day = dayWindow === undefined ? toDay(nowMs) : windowNumber(dayWindow);
    const before = this.countersLike(request).get(request.bucketKey);
    // A clock that was ahead began a later window here; it stands for the one that is open there.
    const minuteLocal = before !== undefined && before.minute >= minute ? before.minuteLocal : 0;
    const dayLocal = before !== undefined && before.day >= day ? before.dayLocal : 0;
    this.countersLike(request).set(request.bucketKey, {
      minute,
      minuteUsed: usedIn(minuteWindow) + minuteLocal,
      minuteLocal,
      day,
      dayUsed: usedIn(dayWindow) + dayLocal,
      dayLocal,
      denials,
      bannedUntilMs: ban?.untilMs ?? null,
      nowMs,
    });
  }

  liftBan(bucketKey: string): void {
    const counter = this.counters.quotas.get(bucketKey);
    if (counter !== undefined) {
      Object.assign(counter, { bannedUntilMs: null, denials: 0 });
    }
  }

  private countersLike({ perDay }: RateLimitRequest): LRUCache<string, Counter> {
    return perDay === null ? this.counters.addresses : this.counters.quotas;
  }

  /** Returns a copy, in the windows that are open now. */
  private read(request: RateLimitRequest): Counter {
    const nowMs = Math.floor(this.now());
    const [minute, day] = [toMinute(nowMs), toDay(nowMs)];
    const before = this.countersLike(request).get(request.bucketKey) ?? UNUSED;
    // A window never goes back.
    return {
      ...before,
      ...(minute > before.minute && { minute, minuteUsed: 0, minuteLocal: 0, denials: 0 }),
      ...(day > before.day && { day, dayUsed: 0, dayLocal: 0 }),
      nowMs,
    };
  }
}

function usedIn(window: WindowState | undefined): number {
  return window === undefined ? 0 : window.limit - window.remaining;
}
