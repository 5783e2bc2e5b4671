import type { WindowState } from './windows.js';

/** A temporary ban that a request started or met. */
export interface Ban {
  /** When it ends, in milliseconds since the Unix epoch, by the store's clock. */
  untilMs: number;
  /** Whether this very request started it. Of all requests that a ban refuses, one did. */
  started: boolean;
}

/** What a store did with several requests of one subject at once: the first are allowed, then some are refused, the rest met a ban. */
export interface BatchOutcome {
  allowed: number;
  /** Those that were counted as refusals. The last of them started a ban if no refusals are left. */
  denied: number;
  /** Refusals of the minute after all of them; a ban that starts sets them to zero. */
  refusals: number;
  /** When the subject's ban ends or ended, by the store's clock; null if there was none ever. */
  bannedUntil: Date | null;
}

/** Where one of these requests stands: what it may still do before a ban, and the ban that it started or met. */
export interface BanStatus {
  /** Refusals that remain within this minute: the last of them starts a ban. Null for whom no ban threatens. */
  refusalsUntilBan: number | null;
  ban: Ban | null;
}

/** Whether anybody is ever banned. */
export function bansAreOn(banDurations: readonly number[]): boolean {
  return banDurations.length > 0;
}

/**
 * The banStatus of the request that is number `position` (from 0) among those judged at once.
 *
 * @param threshold refusals within a minute that start a ban: the limit per minute in force. Null for whom bans are off.
 */
export function banStatusOf(judged: BatchOutcome, position: number, threshold: number | null): BanStatus {
  const { allowed: granted, denied: refused, refusals, bannedUntil } = judged;
  if (threshold === null) {
    return { refusalsUntilBan: null, ban: null };
  }
  const started = refused > 0 && refusals === 0;
  const refusedAfterThis = Math.min(refused, granted + refused - position - 1);
  if (refusedAfterThis < 0 || (started && refusedAfterThis === 0)) {
    if (bannedUntil === null) {
      throw new Error('The counter store told of a ban without its end');
    }
    return { refusalsUntilBan: 0, ban: { untilMs: bannedUntil.getTime(), started: refusedAfterThis === 0 } };
  }
  const untilBan = started ? refusedAfterThis : threshold - refusals + refusedAfterThis;
  // A limit that was lowered may be reached already: then the next refusal starts the ban.
  return { refusalsUntilBan: Math.max(1, untilBan), ban: null };
}

/** Unix time in seconds, rounded up, at which a ban is over: who waits until then is not refused by it. */
export function banEndSeconds({ untilMs }: Ban): number {
  return Math.ceil(untilMs / 1000);
}

/** Whole seconds, at least 1, from `nowMs` to the end of a ban. */
export function secondsToBanEnd({ untilMs }: Ban, nowMs: number): number {
  return Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
}

/**
 * Windows as who is banned has them: with nothing remaining, until the ban ends; or, where a window was used up
 * and ends later, until then.
 */
export function windowsWhileBanned(windows: readonly WindowState[], ban: Ban): WindowState[] {
  const banEnd = banEndSeconds(ban);
  return windows.map((window) => ({
    ...window,
    remaining: 0,
    resetSeconds: window.remaining > 0 ? banEnd : Math.max(banEnd, window.resetSeconds),
  }));
}
