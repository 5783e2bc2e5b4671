import { pause as pauseUnder } from './time-limit.js';

/** What the client has of the platform it runs on. Each can be given another, in a test say. */
export interface Platform {
  /** Sends a request; rejects as soon as the request's signal is aborted, also while the answer is read. */
  fetch: (request: Request) => Promise<Response>;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to below 1. */
  random: () => number;
  /** Milliseconds since the beginning of 1970: a date in `Retry-After` is compared with it. */
  now: () => number;
  /** Milliseconds since any moment, by a clock that nobody sets: a budget is measured with it. */
  stopwatch: () => number;
}

/** Node, or a browser, as it is where nothing else is given. */
export function platformOf({
  fetch = (request) => globalThis.fetch(request),
  pause = pauseUnder,
  random = Math.random,
  now = Date.now,
  stopwatch = () => performance.now(),
}: Partial<Platform>): Platform {
  return { fetch, pause, random, now, stopwatch };
}
