import type { Claim } from './claim.js';
import type { Evidence, ReportedWindow, Request } from './evidence.js';
import { isRevocation, isUndecided } from './history.js';

const LENGTH_SECONDS = { minute: 60, day: 86_400 };

/** Every response reports the windows that it counts in, and its headers agree with each other. */
export function checkHeaders(
  { requests }: Evidence,
  { limits, remaining }: Record<'limits' | 'remaining', Claim>,
): void {
  for (const request of requests.filter(({ receivedMs }) => receivedMs !== null)) {
    const { id, status, headers } = request;
    limits.check(
      headers.minute !== undefined && (headers.day !== undefined || !countsInDay(request)),
      () => `${id} got ${status}, and does not report the windows that it counts in`,
    );
    const wrong = findWrongHeader(request);
    remaining.check(wrong === null, () => `${id} reports a wrong ${wrong}: ${JSON.stringify(headers)}`);
  }
}

/** Whether a response counts against a quota: otherwise its key was rejected, or it was not counted. */
function countsInDay({ quota, status }: Request): boolean {
  return quota !== null && ![401, 429, 503].includes(status ?? 0);
}

/**
 * Returns the name of a header that is no valid number, or contradicts another one; null if all are right.
 */
function findWrongHeader(request: Request): string | null {
  const { status, code, headers } = request;
  const { limit, remaining, reset, retryAfter, minute, day } = headers;
  for (const [name, window] of Object.entries({ minute, day })) {
    if (window !== undefined && !isPossible(window, LENGTH_SECONDS[name as 'minute' | 'day'])) {
      return name;
    }
  }
  const windows = [minute, day].filter((window) => window !== undefined);
  // `X-RateLimit-*` describe the window with fewer requests remaining, on a tie the one that ends later.
  const least = Math.min(...windows.map(({ r }) => r));
  const latest = Math.max(...windows.filter(({ r }) => r === least).map(({ t }) => t));
  // During a ban `remaining` is 0, but the windows are reported as they are, or as last known.
  const mayBeBanned = isUndecided(request) || isRevocation(request);
  const isBanned = code === 'api_key_banned' || (mayBeBanned && remaining === 0);
  if (remaining !== (isBanned ? 0 : least)) {
    return 'remaining';
  }
  if (!windows.some(({ q, r, t }) => q === limit && r === least && t === latest)) {
    return 'limit';
  }
  if (!isInteger(reset, 1)) {
    return 'reset';
  }
  const full = Math.max(1, ...windows.filter(({ r }) => r === 0).map(({ t }) => t));
  const exact = code === 'rate_limit_exceeded' ? full : code === 'too_many_concurrent_requests' ? 1 : null;
  const isRight = exact === null ? isInteger(retryAfter, 1) : retryAfter === exact;
  return (status === 429 || status === 503) && !isRight ? 'retryAfter' : null;
}

function isPossible({ q, w, r, t }: ReportedWindow, longestSeconds: number): boolean {
  return isInteger(q, 1) && w === longestSeconds && isInteger(r, 0, q) && isInteger(t, 0, longestSeconds);
}

function isInteger(value: unknown, least: number, most = Infinity): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}
