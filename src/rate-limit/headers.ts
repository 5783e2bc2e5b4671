import type { Admission } from './admission.js';
import { banEndSeconds, secondsToBanEnd, windowsWhileBanned } from './ban.js';
import { retryAfterSeconds, secondsToReset, tightestWindow } from './windows.js';

/**
 * The rate-limit headers of a response: `X-RateLimit-*` for the window that a client meets first, and all
 * windows in the form of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. A refusal also tells
 * when to come back (RFC 9110, section 10.2.3). While banned, nothing remains in any window and `X-RateLimit-Reset`
 * is the ban's end. `X-RateLimit-Degraded` tells that the numbers are this replica's own, as the store is away.
 */
export function rateLimitHeaders(admission: Admission): Record<string, string> {
  const { admitted, ban, nowMs } = admission;
  const windows = ban === null ? admission.windows : windowsWhileBanned(admission.windows, ban);
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
  if (admission.degraded) {
    headers['X-RateLimit-Degraded'] = 'true';
  }
  if (!admitted) {
    headers['Retry-After'] = String(
      ban === null ? retryAfterSeconds(windows, nowMs) : secondsToBanEnd(ban, nowMs),
    );
  }
  return headers;
}
