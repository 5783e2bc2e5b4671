import { BatchItemError } from '../batcher.js';
import type { RateLimitDecision } from './rate-limit-decision.js';
import { bansAreOn, type BatchOutcome, banStatusOf } from './ban.js';
import type { RateLimitRequest } from './counter-store.js';
import { type WindowState, windowState } from './windows.js';

/** The numbers of a quota, or of a stranger, who has no day window and is never banned. */
export interface Limits {
  perMinute: number;
  perDay: number | null;
}

/** The requests of one bucket in a batch, added up. The limits are those of the latest: a plan may have changed meanwhile. */
export interface BucketRequests extends RateLimitRequest {
  count: number;
}

/** What a store did with a bucket, and where that left the bucket's windows. */
export interface CountedBucket extends BatchOutcome {
  /** Number of the minute since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** Number of the day since the Unix epoch. */
  day: number;
  dayUsed: number;
  /** The store's time of the decision, in milliseconds since the Unix epoch: never before its windows began. */
  nowMs: number;
  /** What the store's clock showed then, which may be before that. */
  clockMs: number;
}

/** What is asked at once. */
export interface Batch {
  requests: readonly RateLimitRequest[];
  /** The bucket of each bucket. */
  buckets: Map<string, BucketRequests>;
  /** The position (from 0) that each request has among those of its bucket. */
  positions: number[];
}

export function groupByBucket(requests: readonly RateLimitRequest[]): Batch {
  const buckets = new Map<string, BucketRequests>();
  const positions = requests.map((request) => {
    const position = buckets.get(request.bucketKey)?.count ?? 0;
    buckets.set(request.bucketKey, { ...request, count: position + 1 });
    return position;
  });
  return { requests, buckets, positions };
}

/**
 * What each request of a batch is answered, in their order.
 *
 * @param outcomes what the store did with the bucket of each bucket, or why nothing came of it.
 */
export function decisionsFor(
  { requests, buckets, positions }: Batch,
  outcomes: ReadonlyMap<string, CountedBucket | BatchItemError>,
  banDurations: readonly number[],
): (RateLimitDecision | BatchItemError)[] {
  return requests.map(({ bucketKey }, index) => {
    const [bucket, position, outcome] = [buckets.get(bucketKey), positions[index], outcomes.get(bucketKey)];
    if (bucket === undefined || position === undefined || outcome === undefined) {
      throw new Error(`The counter store gave no answer for ${bucketKey}`);
    }
    return outcome instanceof BatchItemError ? outcome : decisionFor(outcome, bucket, position, banDurations);
  });
}

/**
 * The decision of the request that is number `position` (from 0) among those of its bucket in the batch.
 *
 * @param banDurations how long bans last; empty where they are off. Strangers are never banned.
 */
export function decisionFor(
  counted: CountedBucket,
  limits: Limits,
  position: number,
  banDurations: readonly number[],
): RateLimitDecision {
  const allowed = position < counted.allowed;
  const laterInBatch = allowed ? counted.allowed - position - 1 : 0;
  const windows = windowsOf(counted, limits, laterInBatch);
  const banStatus = banStatusOf(counted, position, thresholdOf(limits, banDurations));
  const { nowMs, clockMs } = counted;
  return { allowed, windows, nowMs, clockMs, ...banStatus, degraded: false };
}

/** What one request would be told now of a bucket that was looked at: asked for nothing, and left as it was. */
export function previewOf(
  looked: CountedBucket,
  limits: Limits,
  banDurations: readonly number[],
): RateLimitDecision {
  const { bannedUntil, nowMs, clockMs } = looked;
  const threshold = thresholdOf(limits, banDurations);
  const banned = threshold !== null && bannedUntil !== null && bannedUntil.getTime() > nowMs;
  const windows = windowsOf(looked, limits, 0);
  const allowed = !banned && windows.every(({ remaining }) => remaining > 0);
  // Who is not banned stands where an allowed request does; who is, where one does that met the ban.
  const banStatus = banStatusOf({ ...looked, allowed: banned ? 0 : 1 }, 0, threshold);
  return { allowed, windows, nowMs, clockMs, ...banStatus, degraded: false };
}

/** The windows as they were when `later` requests of what was counted had not been taken yet. */
function windowsOf(
  { minute, minuteUsed, day, dayUsed }: CountedBucket,
  limits: Limits,
  later: number,
): WindowState[] {
  const windows = [windowState('minute', minute, limits.perMinute, minuteUsed - later)];
  if (limits.perDay !== null) {
    windows.push(windowState('day', day, limits.perDay, dayUsed - later));
  }
  return windows;
}

/** As many refusals within a minute start a ban; null for whom none does. */
function thresholdOf({ perMinute, perDay }: Limits, banDurations: readonly number[]): number | null {
  return bansAreOn(banDurations) && perDay !== null ? perMinute : null;
}
