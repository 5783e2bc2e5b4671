import { BannedError, type RateLimitError } from 'animal-store-client';
import { serviceMs } from '../session/service-clock';

/** Applies to a 429 that reports no wait, such as a proxy's. */
const UNKNOWN_WAIT_MS = 60_000;
/** Keeps a 429 without a wait from being repeated in a loop. */
const SHORTEST_WAIT_MS = 1000;

/** Returns whether a ban denies a request, even one that the client has not sent because of it. */
export function isBan(error: RateLimitError): boolean {
  return error instanceof BannedError || error.cause instanceof BannedError;
}

/**
 * Returns when the next request is allowed, by the service's clock, for an error that happened at a time of
 * this machine.
 */
export function limitEndMs({ retryAfterMs }: RateLimitError, atMs: number): number {
  const waitMs = retryAfterMs !== null && Number.isFinite(retryAfterMs) ? retryAfterMs : UNKNOWN_WAIT_MS;
  return serviceMs(atMs) + Math.max(SHORTEST_WAIT_MS, waitMs);
}
