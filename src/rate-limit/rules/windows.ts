import { DAY_MS, MINUTE_MS } from '../../process/time-units.js';

// Windows are fixed, in UTC, and numbered since the Unix epoch: number × length is the start of one.
// SQL and Lua have the lengths as literals, and the names as columns and fields.
const LENGTH_SECONDS = { minute: MINUTE_MS / 1000, day: DAY_MS / 1000 };

export type WindowName = keyof typeof LENGTH_SECONDS;
export const WINDOW_NAMES = Object.keys(LENGTH_SECONDS) as WindowName[];

export const toMinute = (nowMs: number) => Math.floor(nowMs / MINUTE_MS);
export const toDay = (nowMs: number) => Math.floor(nowMs / DAY_MS);

export interface WindowLimits {
  perMinute: number;
  /** Null for an anonymous client, which has no day window and is never banned. */
  perDay: number | null;
}

export interface WindowState {
  name: WindowName;
  lengthSeconds: number;
  limit: number;
  /** Requests that may still be allowed, never negative. */
  remaining: number;
  /** Unix time in seconds at which the window ends. */
  resetSeconds: number;
}

/** Returns the state of window `number`, of which `used` requests are used. */
export function windowState(name: WindowName, number: number, limit: number, used: number): WindowState {
  const lengthSeconds = LENGTH_SECONDS[name];
  return {
    name,
    lengthSeconds,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: (number + 1) * lengthSeconds,
  };
}

export function windowNumber({ resetSeconds, lengthSeconds }: WindowState): number {
  return resetSeconds / lengthSeconds - 1;
}

/**
 * Returns the window that a client meets first: fewer requests remaining; on a tie the one that resets later.
 */
export function tightestWindow(windows: readonly WindowState[]): WindowState {
  return windows.reduce((tightest, window) =>
    window.remaining < tightest.remaining ||
    (window.remaining === tightest.remaining && window.resetSeconds > tightest.resetSeconds)
      ? window
      : tightest,
  );
}

/** Returns the whole seconds, rounded up, from `nowMs` to the end of the window. */
export function secondsToReset(window: WindowState, nowMs: number): number {
  return Math.max(0, Math.ceil((window.resetSeconds * 1000 - nowMs) / 1000));
}

/** Returns the whole seconds, at least 1, until the last of the windows that have no room ends. */
export function retryAfterSeconds(windows: readonly WindowState[], nowMs: number): number {
  const full = windows.filter((window) => window.remaining === 0);
  return Math.max(1, ...full.map((window) => secondsToReset(window, nowMs)));
}
