import { type Ban, banThreshold } from './ban.js';
import { type WindowLimits, type WindowState, windowState } from './windows.js';

export interface RateLimitRequest extends WindowLimits {
  /** `quota:ID` or `address:NETWORK`. */
  bucketKey: string;
}

/** Whether a request is allowed, and the numbers that its response reports. */
export interface RateLimitDecision extends BanStatus {
  allowed: boolean;
  /** The windows in force, as this request left them. A ban does not change them. */
  windows: readonly WindowState[];
  /**
   * The time of the decision by the store's clock, in milliseconds since the Unix epoch. Every wait starts
   * then, even if that clock was ahead before, so that a window begins later.
   */
  nowMs: number;
  /** Whether this replica decided by itself because the store is unavailable. */
  degraded: boolean;
}

/** What a request may still do before a ban, and the ban that it started or met. */
interface BanStatus {
  /** Denials within this minute, as this request left them; a ban that starts sets them to zero. */
  denials: number;
  /** Denials that remain within this minute until a ban starts; null if none ever does. */
  denialsUntilBan: number | null;
  ban: Ban | null;
}

/** The requests of one bucket in a batch, with the limits of the latest: its plan may have changed. */
export interface BucketRequests extends RateLimitRequest {
  count: number;
  /** As `banThreshold()` returns it. */
  banThreshold: number | null;
}

/** The windows, denials and ban of a bucket, at the time when a store has counted or read them. */
export interface BucketState {
  /** Number of the minute since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** Number of the day since the Unix epoch. */
  day: number;
  dayUsed: number;
  /** Denials of that minute; a ban that starts sets them to zero. */
  denials: number;
  /** When the last ban ends or ended, in milliseconds since the Unix epoch; null if there never was one. */
  bannedUntilMs: number | null;
  /** As `RateLimitDecision` has it, by the clock that ends the ban too. */
  nowMs: number;
}

/** The requests of a bucket after counting: the first are allowed, the next denied, the rest met a ban. */
export interface CountedBucket extends BucketState {
  allowed: number;
  /** The last of them started a ban if `denials` is zero. */
  denied: number;
}

/** Returns the requests of each bucket together. `banDurations` are those of `banThreshold()`. */
export function groupByBucket(requests: readonly RateLimitRequest[], banDurations: readonly number[]) {
  const buckets = new Map<string, BucketRequests>();
  for (const { bucketKey, perMinute, perDay } of requests) {
    const count = 1 + (buckets.get(bucketKey)?.count ?? 0);
    const threshold = banThreshold({ perMinute, perDay }, banDurations);
    buckets.set(bucketKey, { bucketKey, perMinute, perDay, banThreshold: threshold, count });
  }
  return buckets;
}

/**
 * Returns the decision on each request of a batch, in their order, or the error of its bucket.
 *
 * @param outcomes what the store did with each bucket, or why it could not.
 */
export function decisionsFor(
  requests: readonly RateLimitRequest[],
  buckets: ReadonlyMap<string, BucketRequests>,
  outcomes: ReadonlyMap<string, CountedBucket | Error>,
): (RateLimitDecision | Error)[] {
  const positions = new Map<string, number>();
  return requests.map(({ bucketKey }) => {
    const position = positions.get(bucketKey) ?? 0;
    positions.set(bucketKey, position + 1);
    const outcome =
      outcomes.get(bucketKey) ?? new Error(`The counter store returned nothing for ${bucketKey}`);
    if (outcome instanceof Error) {
      return outcome;
    }
    const bucket = buckets.get(bucketKey)!;
    try {
      return decisionFor(outcome, bucket, bucket.banThreshold, position);
    } catch (error) {
      // The other buckets are counted, whatever the store has of this one.
      return error as Error;
    }
  });
}

/**
 * Returns the decision on the request at `position`, from 0, among those of its bucket in the batch.
 *
 * @param threshold denials within a minute that start a ban; null if none does.
 */
export function decisionFor(
  counted: CountedBucket,
  limits: WindowLimits,
  threshold: number | null,
  position = 0,
): RateLimitDecision {
  const { minute, minuteUsed, day, dayUsed, nowMs } = counted;
  const allowed = position < counted.allowed;
  // The windows are those before the later requests of the batch that are allowed.
  const later = allowed ? counted.allowed - position - 1 : 0;
  const windows = [windowState('minute', minute, limits.perMinute, minuteUsed - later)];
  if (limits.perDay !== null) {
    windows.push(windowState('day', day, limits.perDay, dayUsed - later));
  }
  return { allowed, windows, nowMs, ...toBanStatus(counted, position, threshold), degraded: false };
}

/** Returns the decision that a request would get now. */
export function previewDecision(
  bucket: BucketState,
  limits: WindowLimits,
  threshold: number | null,
): RateLimitDecision {
  const banned = threshold !== null && isBanned(bucket);
  // The status is that of an allowed request, or of one that meets the ban.
  const decision = decisionFor({ ...bucket, allowed: banned ? 0 : 1, denied: 0 }, limits, threshold);
  return { ...decision, allowed: !banned && decision.windows.every(({ remaining }) => remaining > 0) };
}

export function isBanned({ bannedUntilMs, nowMs }: BucketState): boolean {
  return bannedUntilMs !== null && bannedUntilMs > nowMs;
}

/** The parameters are those of `decisionFor()`. */
export function toBanStatus(
  { allowed, denied, denials, bannedUntilMs }: CountedBucket,
  position: number,
  threshold: number | null,
): BanStatus {
  if (threshold === null) {
    return { denials, denialsUntilBan: null, ban: null };
  }
  const started = denied > 0 && denials === 0;
  const deniedAfterThis = Math.min(denied, allowed + denied - position - 1);
  if (deniedAfterThis < 0 || (started && deniedAfterThis === 0)) {
    if (bannedUntilMs === null || bannedUntilMs === Infinity) {
      throw new Error('The counter store returned a ban without its end');
    }
    const ban = { untilMs: bannedUntilMs, started: deniedAfterThis === 0 };
    return { denials: 0, denialsUntilBan: 0, ban };
  }
  const denialsSoFar = (started ? threshold : denials) - deniedAfterThis;
  // A limit that was lowered may be reached already: then the next denial starts the ban.
  return { denials: denialsSoFar, denialsUntilBan: Math.max(1, threshold - denialsSoFar), ban: null };
}
