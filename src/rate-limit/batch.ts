import { FailedAsk } from '../batcher.js';
import type { Admission } from './admission.js';
import { bansAreOn, type Judged, standingOf } from './ban.js';
import type { Ask } from './counter-store.js';
import { type WindowState, windowState } from './windows.js';

/** The numbers of a quota, or of a stranger, who has no day window and is never banned. */
export interface Limits {
  perMinute: number;
  perDay: number | null;
}

/** The asks of one subject in a batch, added up. The limits are those of the latest: a plan may have changed meanwhile. */
export interface Sum extends Ask {
  asked: number;
}

/** What a store did with a sum, and where that left the subject's windows. */
export interface Counted extends Judged {
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
  asks: readonly Ask[];
  /** The sum of each subject. */
  sums: Map<string, Sum>;
  /** The place (from 0) that each ask has among those of its subject. */
  places: number[];
}

export function sumUp(asks: readonly Ask[]): Batch {
  const sums = new Map<string, Sum>();
  const places = asks.map((ask) => {
    const place = sums.get(ask.subject)?.asked ?? 0;
    sums.set(ask.subject, { ...ask, asked: place + 1 });
    return place;
  });
  return { asks, sums, places };
}

/**
 * What each ask of a batch is answered, in their order.
 *
 * @param outcomes what the store did with the sum of each subject, or why nothing came of it.
 */
export function answersTo(
  { asks, sums, places }: Batch,
  outcomes: ReadonlyMap<string, Counted | FailedAsk>,
  ladder: readonly number[],
): (Admission | FailedAsk)[] {
  return asks.map(({ subject }, index) => {
    const [sum, place, outcome] = [sums.get(subject), places[index], outcomes.get(subject)];
    if (sum === undefined || place === undefined || outcome === undefined) {
      throw new Error(`The counter store gave no answer for ${subject}`);
    }
    return outcome instanceof FailedAsk ? outcome : admissionOf(outcome, sum, place, ladder);
  });
}

/**
 * The admission of the ask that is number `place` (from 0) among those of its subject in the batch.
 *
 * @param ladder how long bans last; empty where they are off. Strangers are never banned.
 */
export function admissionOf(
  counted: Counted,
  limits: Limits,
  place: number,
  ladder: readonly number[],
): Admission {
  const admitted = place < counted.granted;
  const laterInBatch = admitted ? counted.granted - place - 1 : 0;
  const windows = windowsOf(counted, limits, laterInBatch);
  const standing = standingOf(counted, place, thresholdOf(limits, ladder));
  const { nowMs, clockMs } = counted;
  return { admitted, windows, nowMs, clockMs, ...standing, degraded: false };
}

/** What one request would be told now of a subject that was looked at: asked for nothing, and left as it was. */
export function outlookOf(looked: Counted, limits: Limits, ladder: readonly number[]): Admission {
  const { bannedUntil, nowMs, clockMs } = looked;
  const threshold = thresholdOf(limits, ladder);
  const banned = threshold !== null && bannedUntil !== null && bannedUntil.getTime() > nowMs;
  const windows = windowsOf(looked, limits, 0);
  const admitted = !banned && windows.every(({ remaining }) => remaining > 0);
  // Who is not banned stands where an admitted request does; who is, where one does that met the ban.
  const standing = standingOf({ ...looked, granted: banned ? 0 : 1 }, 0, threshold);
  return { admitted, windows, nowMs, clockMs, ...standing, degraded: false };
}

/** The windows as they were when `later` requests of what was counted had not been taken yet. */
function windowsOf(
  { minute, minuteUsed, day, dayUsed }: Counted,
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
function thresholdOf({ perMinute, perDay }: Limits, ladder: readonly number[]): number | null {
  return bansAreOn(ladder) && perDay !== null ? perMinute : null;
}
