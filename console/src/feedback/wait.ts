import { AnimalStoreError, BannedError, RateLimitError } from 'animal-store-client';
import { serviceMs } from '../session/service-clock';

/** Applies to a 429 that reports no wait, such as a proxy's. */
const UNKNOWN_WAIT_MS = 60_000;
/** Keeps a response without a wait from being repeated in a loop. */
const SHORTEST_WAIT_MS = 1000;

/** What a notice says of a request that can be sent again after a time. */
interface Wait {
  title: string;
  /** The text before the time that is left. */
  until: string;
}

const BANNED = { title: 'This key is banned', until: 'The ban ends in' };
const LIMITED = { title: 'The rate limit is reached', until: 'The next request is allowed in' };
const TOO_MANY_AT_ONCE = { title: 'Too many requests at once', until: 'The next attempt follows in' };
const UNAVAILABLE = { title: 'The service is unavailable', until: 'The next attempt follows in' };

/**
 * Returns what a notice says of an error after which the service tells when to send the request again; null
 * for another error.
 */
export function waitFor(error: Error): Wait | null {
  if (error instanceof RateLimitError) {
    if (error.code === 'too_many_concurrent_requests') {
      return TOO_MANY_AT_ONCE;
    }
    // A ban also denies a request that the client has not sent because of it.
    return error instanceof BannedError || error.cause instanceof BannedError ? BANNED : LIMITED;
  }
  return error instanceof AnimalStoreError && error.status === 503 && error.retryAfterMs !== null
    ? UNAVAILABLE
    : null;
}

/**
 * Returns when such a wait ends, by the service's clock, for an error that happened at a time of this
 * machine.
 */
export function waitEndMs(error: Error, atMs: number): number {
  const retryAfterMs = error instanceof AnimalStoreError ? error.retryAfterMs : null;
  const waitMs = retryAfterMs !== null && Number.isFinite(retryAfterMs) ? retryAfterMs : UNKNOWN_WAIT_MS;
  return serviceMs(atMs) + Math.max(SHORTEST_WAIT_MS, waitMs);
}
