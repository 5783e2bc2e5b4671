import type { RateLimitWindow } from './rate-limit-headers.js';

/**
 * What the responses have shown of one window of a key. Times are in milliseconds by the client's monotonic
 * clock, so the end of a window is known within bounds only: the service rounds it to seconds, and a response
 * takes time to arrive.
 */
export interface KnownWindow {
  name: string;
  limit: number;
  lengthMs: number;
  /** Requests that remain, as the latest response reports them. Requests in flight may not be counted yet. */
  remaining: number;
  /** The window resets after this time, and by `resetByMs` at the latest. */
  resetAfterMs: number;
  resetByMs: number;
  /** When the response arrived. A response to a request sent after that is newer. */
  knownAtMs: number;
  /**
   * How far `remaining` falls with each response of this client, on average: 1 if no other client uses the
   * key. The first response counts with what the window has allowed before, up to 10: other clients may have
   * used it, and may go on.
   */
  usedPerResponse: number;
}

/** When a request was sent and its response arrived, in milliseconds. */
interface Exchange {
  sentAtMs: number;
  receivedAtMs: number;
}

/** A client of a day that is half over need not expect others. */
const MAX_FIRST_USE = 10;

/** Weight of the latest response in `usedPerResponse`. */
const LATEST_WEIGHT = 1 / 4;

/**
 * Returns what is known of a window after a response. Of responses that were in flight together, the one of
 * the later window holds, and within one window the one with fewer requests remaining.
 */
export function learn(
  known: KnownWindow | undefined,
  reported: RateLimitWindow,
  { sentAtMs, receivedAtMs }: Exchange,
): KnownWindow {
  const latest: KnownWindow = {
    name: reported.name,
    limit: reported.limit,
    lengthMs: reported.lengthSeconds * 1000,
    remaining: reported.remaining,
    resetAfterMs: sentAtMs + (reported.resetSeconds - 1) * 1000,
    resetByMs: receivedAtMs + reported.resetSeconds * 1000,
    knownAtMs: receivedAtMs,
    usedPerResponse: Math.min(reported.limit - reported.remaining, MAX_FIRST_USE),
  };
  if (known === undefined) {
    return latest;
  }
  const isNewer = sentAtMs >= known.knownAtMs;
  if (latest.resetByMs < known.resetAfterMs && !isNewer) {
    return known;
  }
  const isSameWindow = latest.resetAfterMs <= known.resetByMs && known.resetAfterMs <= latest.resetByMs;
  if (!isSameWindow) {
    return { ...latest, usedPerResponse: known.usedPerResponse };
  }
  const used = Math.max(0, known.remaining - latest.remaining);
  return {
    ...latest,
    remaining: isNewer ? latest.remaining : Math.min(known.remaining, latest.remaining),
    resetAfterMs: Math.max(known.resetAfterMs, latest.resetAfterMs),
    resetByMs: Math.min(known.resetByMs, latest.resetByMs),
    usedPerResponse: known.usedPerResponse + (used - known.usedPerResponse) * LATEST_WEIGHT,
  };
}

/** Returns the window that a time is in: a window that has reset has all of its requests again. */
export function windowAt(window: KnownWindow, nowMs: number): KnownWindow {
  const { resetByMs, resetAfterMs, lengthMs, limit } = window;
  if (nowMs < resetByMs) {
    return window;
  }
  const elapsedMs = (Math.floor((nowMs - resetByMs) / lengthMs) + 1) * lengthMs;
  return {
    ...window,
    remaining: limit,
    resetAfterMs: resetAfterMs + elapsedMs,
    resetByMs: resetByMs + elapsedMs,
  };
}

/**
 * Returns how many requests may be in flight, 0 if a window is spent. Near its end a window allows fewer at
 * once: half of this client's share of what remains, and always one. This leaves room for the requests
 * of other clients.
 */
export function inFlightLimit(windows: Iterable<KnownWindow>): number {
  let limit = Infinity;
  for (const { remaining, usedPerResponse } of windows) {
    const share = Math.floor(remaining / (2 * Math.max(1, usedPerResponse)));
    limit = Math.min(limit, remaining > 0 ? Math.max(1, share) : 0);
  }
  return limit;
}

/** Returns the milliseconds that a call waits for the windows when `ahead` calls are sent before it. */
export function waitForWindowsMs(windows: Iterable<KnownWindow>, ahead: number, nowMs: number): number {
  let waitMs = 0;
  for (const { remaining, limit, resetByMs, lengthMs } of windows) {
    if (ahead >= remaining) {
      const laterWindows = limit > 0 ? Math.floor((ahead - remaining) / limit) : Infinity;
      waitMs = Math.max(waitMs, resetByMs - nowMs + laterWindows * lengthMs);
    }
  }
  return waitMs;
}
