import type { RateLimitDecision } from './rate-limit-decision.js';
import { banEndSeconds, secondsToBanEnd, windowsWhileBanned } from './ban.js';
import { retryAfterSeconds, secondsToReset, tightestWindow } from './windows.js';

/**
 * Returns the rate-limit headers of a response, and the window that `X-RateLimit-*` describe: the one that a
 * client meets first. The headers are `X-RateLimit-*`, all windows in the form of
 * draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4, and `Retry-After` on a denial (RFC 9110, section
 * 10.2.3). While banned, nothing remains in any window, and `X-RateLimit-Reset` is the end of the ban.
 */
export function rateLimitReport({ allowed, ban, degraded, nowMs, windows: own }: RateLimitDecision) {
  const windows = ban === null ? own : windowsWhileBanned(own, ban);
  const tightest = tightestWindow(windows);
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(tightest.limit),
    'X-RateLimit-Remaining': String(tightest.remaining),
    'X-RateLimit-Reset': String(ban === null ? tightest.resetSeconds : banEndSeconds(ban)),
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
