import { AnimalStoreError, noAnswer, refusal } from './error.js';
import { LONGEST_TIMER_MS, type Platform } from './platform.js';
import { type Budget, waitBeforeNext } from './retry.js';

/** A `fetch` that tries again, within its budget, and throws an `AnimalStoreError` for whatever is no success. */
export function retryingFetch(platform: Platform, budget: Budget): (request: Request) => Promise<Response> {
  return async (request) => {
    const startedAtMs = platform.stopwatch();
    const elapsedMs = () => platform.stopwatch() - startedAtMs;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt(request, platform, Math.min(budget.attemptMs, budget.totalMs - elapsedMs()));
      } catch (error) {
        const waitMs =
          error instanceof AnimalStoreError
            ? waitBeforeNext(error, { attempts, elapsedMs: elapsedMs() }, budget, platform.random)
            : null;
        if (waitMs === null) {
          throw error;
        }
        await platform.pause(waitMs, request.signal);
        // It may have been longer than told, as where the machine slept meanwhile.
        if (elapsedMs() >= budget.totalMs) {
          throw error;
        }
      }
    }
  };
}

/** Reads the answer to its end too, so that one which breaks off is tried again as a whole. */
async function attempt(request: Request, platform: Platform, limitMs: number): Promise<Response> {
  // Takes whole numbers only; of a fraction, which a stopwatch has, it throws.
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(Math.max(limitMs, 0)), LONGEST_TIMER_MS));
  const signal = AbortSignal.any([request.signal, timeout]);
  let response: Response;
  let text: string;
  try {
    response = await platform.fetch(new Request(request.clone(), { signal }));
    text = await response.text();
  } catch (cause) {
    request.signal.throwIfAborted();
    throw noAnswer(timeout.aborted ? timeout.reason : cause);
  }
  if (!response.ok) {
    throw refusal(response, text, platform.now());
  }
  return new Response(text === '' ? null : text, response);
}
