/** What the client has of the platform it runs on. Each can be given another, in a test say. */
export interface Platform {
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

/** A timer of more ends at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Node, or a browser, as it is. */
export const platform: Platform = {
  fetch: (request) => fetch(request),
  pause,
  random: Math.random,
  now: Date.now,
  stopwatch: () => performance.now(),
};

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    if (signal.aborted) {
      abort();
    } else {
      signal.addEventListener('abort', abort, { once: true });
    }
  });
}
