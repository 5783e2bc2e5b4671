import type { RateLimitDecision } from './rate-limit-decision.js';
import { banEndSeconds, secondsToBanEnd } from './ban.js';
import { retryAfterSeconds, secondsToReset, tightestWindow } from './windows.js';

/**
 * Returns the rate-limit headers of a response, and the window that `X-RateLimit-*` describe: the one that a
 * client meets first, with nothing remaining during a ban. `RateLimit` has all windows as they are
 * (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4).
 */
export function rateLimitReport({ allowed, ban, degraded, nowMs, windows }: RateLimitDecision) {
  const fewest = tightestWindow(windows);
  const tightest = ban === null ? fewest : { ...fewest, remaining: 0, resetSeconds: banEndSeconds(ban) };
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(tightest.limit),
    'X-RateLimit-Remaining': String(tightest.remaining),
    'X-RateLimit-Reset': String(tightest.resetSeconds),
    'RateLimit-Policy': windows
      .map(({ name, limit, lengthSeconds }) => `"${name}";q=${limit};w=${lengthSeconds}`)
      .join(', '),
    RateLimit: windows
      .map((window) => `"${window.name}";r=${window.remaining};t=${secondsToReset(window, nowMs)}`)
      .join(', '),
  };
  if (degraded) {
    headers['X-RateLimit-Degraded'] = 'true';
  }
  if (!allowed) {
    headers['Retry-After'] = String(
      ban === null ? retryAfterSeconds(windows, nowMs) : secondsToBanEnd(ban, nowMs),
    );
  }
  return { headers, tightest };
}
