import type { RateLimitDecision } from './rate-limit-decision.js';
import { bansAreOn } from './ban.js';
import { decisionFor, type CountedBucket, type Limits, previewOf } from './batch.js';
import type { UnreportedUsage } from './counter-store.js';
import { DAY_SECONDS, MINUTE_SECONDS } from './windows.js';

const MINUTE_MS = MINUTE_SECONDS * 1000;
const DAY_MS = DAY_SECONDS * 1000;

/** Which windows are meant. */
export interface WindowNumbers {
  /** Number of the minute since the Unix epoch. */
  minute: number;
  /** Number of the day since the Unix epoch. */
  day: number;
}

/** The windows, refusals and ban of one subject, as a row of `rate_limit_counters` has them. */
export interface Counter extends WindowNumbers {
  minuteUsed: number;
  dayUsed: number;
  /** Of that minute; a ban that starts sets them to zero. */
  refusals: number;
  /** When the ban ends or ended, in milliseconds since the Unix epoch; null where there was none. */
  bannedUntilMs: number | null;
  /** The step of the banDurations that this ban was on, from 1. */
  banLevel: number;
}

/** The number of the minute that a time is in. */
export const minuteOf = (nowMs: number) => Math.floor(nowMs / MINUTE_MS);
/** The number of the UTC day that a time is in. */
export const dayOf = (nowMs: number) => Math.floor(nowMs / DAY_MS);

/** The windows that a time is in. */
const windowsAt = (nowMs: number): WindowNumbers => ({ minute: minuteOf(nowMs), day: dayOf(nowMs) });

/** A subject that nobody has counted yet. */
export function newCounter(nowMs: number): Counter {
  return {
    ...windowsAt(nowMs),
    minuteUsed: 0,
    dayUsed: 0,
    refusals: 0,
    bannedUntilMs: null,
    banLevel: 0,
  };
}

/** Opens these windows where they are later; one never goes back. */
function rollOver(counter: Counter, { minute, day }: WindowNumbers): Counter {
  return {
    ...counter,
    ...(minute > counter.minute && { minute, minuteUsed: 0, refusals: 0 }),
    ...(day > counter.day && { day, dayUsed: 0 }),
  };
}

/** When a request is judged, in milliseconds since the Unix epoch: never before its windows began. */
function judgedAt({ minute, day }: Counter, nowMs: number): number {
  return Math.max(nowMs, minute * MINUTE_MS, day * DAY_MS);
}

/**
 * Takes one request, as `consume.sql` does.
 *
 * @param banDurations milliseconds that the first ban lasts, the next, and so on; empty where bans are off.
 * @returns the counter afterwards, and the answer.
 */
export function consume(
  before: Counter,
  limits: Limits,
  nowMs: number,
  banDurations: readonly number[],
): { counter: Counter; decision: RateLimitDecision } {
  const counter = rollOver(before, windowsAt(nowMs));
  const atMs = judgedAt(counter, nowMs);
  const answer = (judged: { allowed: number; denied: number }) =>
    decisionFor(countedOf(counter, { nowMs: atMs, clockMs: nowMs, ...judged }), limits, 0, banDurations);
  if (isBanned(counter, atMs, banDurations)) {
    return { counter, decision: answer({ allowed: 0, denied: 0 }) };
  }
  const { perMinute, perDay } = limits;
  const allowed = counter.minuteUsed < perMinute && (perDay === null || counter.dayUsed < perDay) ? 1 : 0;
  const denied = 1 - allowed;
  counter.minuteUsed += allowed;
  counter.dayUsed += allowed;
  counter.refusals += denied;
  if (denied > 0 && perDay !== null && bansAreOn(banDurations) && counter.refusals >= perMinute) {
    counter.banLevel = nextStep(counter, atMs, banDurations);
    counter.bannedUntilMs = atMs + (banDurations[counter.banLevel - 1] as number);
    counter.refusals = 0;
  }
  return { counter, decision: answer({ allowed, denied }) };
}

/** The numbers as they stand, and whether a request now would be allowed. */
export function peek(
  before: Counter,
  limits: Limits,
  nowMs: number,
  banDurations: readonly number[],
): RateLimitDecision {
  const counter = rollOver(before, windowsAt(nowMs));
  const times = { nowMs: judgedAt(counter, nowMs), clockMs: nowMs };
  return previewOf(countedOf(counter, { ...times, allowed: 0, denied: 0 }), limits, banDurations);
}

/** Adds what was allowed elsewhere, as `reconcile.sql` does. */
export function reconcile(before: Counter, taken: UnreportedUsage, nowMs: number): Counter {
  // One that begins only later is taken for the one that is open.
  const minute = Math.min(taken.minute, Math.max(minuteOf(nowMs), before.minute));
  const day = Math.min(taken.day, Math.max(dayOf(nowMs), before.day));
  const counter = rollOver(before, { minute, day });
  counter.minuteUsed += minute === counter.minute ? taken.minuteUsed : 0;
  counter.dayUsed += day === counter.day ? taken.dayUsed : 0;
  return counter;
}

/**
 * What an answer of the store tells of a counter. It does not tell the step of a ban, which is taken for the first: the
 * next ban may be shorter than the store's would be.
 */
export function learn(counter: Counter, { windows, ban, nowMs, refusalsUntilBan }: RateLimitDecision): void {
  const [minute, day] = windows;
  counter.minute = minuteOf(nowMs);
  counter.minuteUsed = minute === undefined ? 0 : minute.limit - minute.remaining;
  counter.day = dayOf(nowMs);
  counter.dayUsed = day === undefined ? 0 : day.limit - day.remaining;
  counter.refusals =
    ban !== null || refusalsUntilBan === null || minute === undefined
      ? 0
      : Math.max(0, minute.limit - refusalsUntilBan);
  counter.bannedUntilMs = ban?.untilMs ?? null;
  counter.banLevel = ban === null ? 0 : 1;
}

function isBanned({ bannedUntilMs }: Counter, atMs: number, banDurations: readonly number[]): boolean {
  return bansAreOn(banDurations) && bannedUntilMs !== null && bannedUntilMs > atMs;
}

/** One step above the last ban's, which falls by one for each full 24 hours since it ended; the last step repeats. */
function nextStep(
  { banLevel, bannedUntilMs }: Counter,
  atMs: number,
  banDurations: readonly number[],
): number {
  const fallen = bannedUntilMs === null ? 0 : Math.trunc((atMs - bannedUntilMs) / DAY_MS);
  return Math.min(banDurations.length, 1 + Math.max(0, banLevel - fallen));
}

/** The counter as one that other stores have judged, too, is told of. */
function countedOf(
  { bannedUntilMs, ...counter }: Counter,
  judged: Pick<CountedBucket, 'allowed' | 'denied' | 'nowMs' | 'clockMs'>,
): CountedBucket {
  const bannedUntil = bannedUntilMs === null ? null : new Date(bannedUntilMs);
  return { ...counter, ...judged, bannedUntil };
}
