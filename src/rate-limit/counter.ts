import type { Admission } from './admission.js';
import { bansAreOn } from './ban.js';
import { admissionOf, type Counted, type Limits, outlookOf } from './batch.js';
import type { Taken } from './counter-store.js';
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
  /** The step of the ladder that this ban was on, from 1. */
  banStep: number;
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
    banStep: 0,
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
 * Takes one request, as `take.sql` does.
 *
 * @param ladder milliseconds that the first ban lasts, the next, and so on; empty where bans are off.
 * @returns the counter afterwards, and the answer.
 */
export function take(
  before: Counter,
  limits: Limits,
  nowMs: number,
  ladder: readonly number[],
): { counter: Counter; admission: Admission } {
  const counter = rollOver(before, windowsAt(nowMs));
  const atMs = judgedAt(counter, nowMs);
  const answer = (judged: { granted: number; refused: number }) =>
    admissionOf(countedOf(counter, { nowMs: atMs, clockMs: nowMs, ...judged }), limits, 0, ladder);
  if (isBanned(counter, atMs, ladder)) {
    return { counter, admission: answer({ granted: 0, refused: 0 }) };
  }
  const { perMinute, perDay } = limits;
  const granted = counter.minuteUsed < perMinute && (perDay === null || counter.dayUsed < perDay) ? 1 : 0;
  const refused = 1 - granted;
  counter.minuteUsed += granted;
  counter.dayUsed += granted;
  counter.refusals += refused;
  if (refused > 0 && perDay !== null && bansAreOn(ladder) && counter.refusals >= perMinute) {
    counter.banStep = nextStep(counter, atMs, ladder);
    counter.bannedUntilMs = atMs + (ladder[counter.banStep - 1] as number);
    counter.refusals = 0;
  }
  return { counter, admission: answer({ granted, refused }) };
}

/** The numbers as they stand, and whether a request now would be admitted. */
export function look(before: Counter, limits: Limits, nowMs: number, ladder: readonly number[]): Admission {
  const counter = rollOver(before, windowsAt(nowMs));
  const times = { nowMs: judgedAt(counter, nowMs), clockMs: nowMs };
  return outlookOf(countedOf(counter, { ...times, granted: 0, refused: 0 }), limits, ladder);
}

/** Adds what was admitted elsewhere, as `add.sql` does. */
export function add(before: Counter, taken: Taken, nowMs: number): Counter {
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
export function learn(counter: Counter, { windows, ban, nowMs, refusalsUntilBan }: Admission): void {
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
  counter.banStep = ban === null ? 0 : 1;
}

function isBanned({ bannedUntilMs }: Counter, atMs: number, ladder: readonly number[]): boolean {
  return bansAreOn(ladder) && bannedUntilMs !== null && bannedUntilMs > atMs;
}

/** One step above the last ban's, which falls by one for each full 24 hours since it ended; the last step repeats. */
function nextStep({ banStep, bannedUntilMs }: Counter, atMs: number, ladder: readonly number[]): number {
  const fallen = bannedUntilMs === null ? 0 : Math.trunc((atMs - bannedUntilMs) / DAY_MS);
  return Math.min(ladder.length, 1 + Math.max(0, banStep - fallen));
}

/** The counter as one that other stores have judged, too, is told of. */
function countedOf(
  { bannedUntilMs, ...counter }: Counter,
  judged: Pick<Counted, 'granted' | 'refused' | 'nowMs' | 'clockMs'>,
): Counted {
  const bannedUntil = bannedUntilMs === null ? null : new Date(bannedUntilMs);
  return { ...counter, ...judged, bannedUntil };
}
