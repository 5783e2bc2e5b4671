import { pause as pauseUnder } from './time-limit.js';

/** What the client uses of the platform it runs on. Each can be replaced, for example in a test. */
export interface ClientPlatform {
  /** Sends a request; rejects as soon as the request's signal is aborted, even while the response is read. */
  fetch: (request: Request) => Promise<Response>;
  /** Resolves after this many milliseconds; rejects with the signal's reason as soon as that is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to below 1. */
  random: () => number;
  /** Milliseconds since the Unix epoch, with which a date in `Retry-After` is compared. */
  now: () => number;
  /** Milliseconds since any moment by a clock that is never set, for budgets and windows. */
  monotonicNow: () => number;
}

const monotonicMs = () => performance.now();

/** Fills in the defaults: the functions of the runtime. */
export function completePlatform({
  fetch = (request) => globalThis.fetch(request),
  pause = pauseUnder,
  random = Math.random,
  now = Date.now,
  monotonicNow = monotonicMs,
}: Partial<ClientPlatform>): ClientPlatform {
  return { fetch, pause, random, now, monotonicNow };
}

/** Whether waits take the time that they take on the platform. */
export function hasOwnClock({ pause, monotonicNow }: ClientPlatform): boolean {
  return pause === pauseUnder && monotonicNow === monotonicMs;
}
