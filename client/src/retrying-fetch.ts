import { AnimalStoreError, noAnswer, refusal, unexpectedAnswer } from './error.js';
import { parseJson } from './json.js';
import type { Platform } from './platform.js';
import { type Budget, waitBeforeNext } from './retry.js';
import { within } from './time-limit.js';

/**
 * A `fetch` that tries again, within its budget, and throws an `AnimalStoreError` for whatever is no success.
 *
 * @param signal ends it, also while it waits. The request has none: Node would add a listener for each, and keep them.
 */
export function retryingFetch(
  platform: Platform,
  budget: Budget,
  signal: AbortSignal,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const startedAtMs = platform.stopwatch();
    const elapsedMs = () => platform.stopwatch() - startedAtMs;
    for (let attempts = 1; ; attempts += 1) {
      const limitMs = Math.min(budget.attemptMs, budget.totalMs - elapsedMs());
      try {
        return await within(limitMs, signal, (limited) => attempt(request, limited, platform));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AnimalStoreError)) {
          throw error;
        }
        error.attempts = attempts;
        const waitMs = waitBeforeNext(error, { attempts, elapsedMs: elapsedMs() }, budget, platform.random);
        if (waitMs === null) {
          throw error;
        }
        await platform.pause(waitMs, signal);
        // It may have been longer than told, as where the machine slept meanwhile.
        if (elapsedMs() >= budget.totalMs) {
          throw error;
        }
      }
    }
  };
}

/** What waits for its answer. Node does not abort a request that nobody holds, once memory has been tidied. */
const underWay = new Set<Request>();

/** Reads the answer to its end too, so that one which breaks off is tried again as a whole. */
async function attempt(request: Request, signal: AbortSignal, platform: Platform): Promise<Response> {
  const sent = new Request(request.clone(), { signal });
  let response: Response;
  let text: string;
  underWay.add(sent);
  try {
    response = await platform.fetch(sent);
    text = await response.text();
  } catch (cause) {
    throw noAnswer(signal.aborted ? signal.reason : cause);
  } finally {
    underWay.delete(sent);
  }
  if (!response.ok) {
    throw refusal(response, text, platform.now());
  }
  // It is read by the caller; here it is only seen whether it can be, while all attempts are known.
  try {
    parseJson(text);
  } catch (cause) {
    throw unexpectedAnswer(response, platform.now(), { cause });
  }
  return new Response(text, response);
}
