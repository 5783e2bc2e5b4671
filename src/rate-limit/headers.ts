import type { RateLimitDecision } from './rate-limit-decision.js';
import { banEndSeconds, secondsToBanEnd, windowsWhileBanned } from './ban.js';
import { retryAfterSeconds, secondsToReset, tightestWindow, type WindowState } from './windows.js';

/** Returns the window that `X-RateLimit-*` describe: the one that a client meets first. */
export function reportedWindow(decision: RateLimitDecision): WindowState {
  return tightestWindow(windowsOf(decision));
}

/**
 * The rate-limit headers of a response: `X-RateLimit-*` for the window that a client meets first, and all
 * windows in the form of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. A refusal also tells
 * when to come back (RFC 9110, section 10.2.3). While banned, nothing remains in any window and `X-RateLimit-Reset`
 * is the ban's end. `X-RateLimit-Degraded` tells that the numbers are this replica's own, as the store is away.
 *
 * @param tightest the reported window.
 */
export function rateLimitHeaders(
  decision: RateLimitDecision,
  tightest = reportedWindow(decision),
): Record<string, string> {
  const { allowed, ban, nowMs } = decision;
  const windows = windowsOf(decision);
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
  if (decision.degraded) {
    headers['X-RateLimit-Degraded'] = 'true';
  }
  if (!allowed) {
    headers['Retry-After'] = String(
      ban === null ? retryAfterSeconds(windows, nowMs) : secondsToBanEnd(ban, nowMs),
    );
  }
  return headers;
}

/** Returns the windows as the client meets them: nothing remains while it is banned. */
function windowsOf({ windows, ban }: RateLimitDecision): readonly WindowState[] {
  return ban === null ? windows : windowsWhileBanned(windows, ban);
}
