import type { RateLimitStatus } from 'animal-store-client';
import { SERVICE_ROOT } from '../address/service-root';
import { learnServiceTime, serviceNowMs } from './service-clock';

/** A response of the service that a request would get now. */
interface Denial {
  code: 'api_key_banned' | 'rate_limit_exceeded';
  untilMs: number;
}

/**
 * Returns a `fetch` that reads the limits of a key, which counts against none of them, before the first other
 * request of a page. One that would be denied, or has a rejected key, is not sent: it would bring a ban
 * closer, and be a failed request of the reader.
 */
export function limitsFirst(): (request: Request) => Promise<Response> {
  let isKnown = false;
  return async (request) => {
    if (isKnown || request.method !== 'GET' || request.url.endsWith('/v1/rate-limit')) {
      return fetch(request);
    }
    isKnown = true;
    return (await findDenial(request)) ?? fetch(request);
  };
}

/** Returns the response to a request that would be denied now; null if it would not, or nobody knows. */
async function findDenial({ headers, signal }: Request): Promise<Response | null> {
  try {
    const response = await fetch(`${SERVICE_ROOT}v1/rate-limit`, { headers, signal });
    learnServiceTime(response.headers);
    if (response.status === 401) {
      return response;
    }
    const denial = response.ok ? denialOf(await response.json()) : null;
    return denial && toResponse(denial);
  } catch {
    // Then the request itself fails too, and says why.
    return null;
  }
}

function denialOf({ bannedUntil, windows }: RateLimitStatus): Denial | null {
  if (bannedUntil !== null) {
    return { code: 'api_key_banned', untilMs: Date.parse(bannedUntil) };
  }
  const ends = windows.filter(({ remaining }) => remaining === 0).map(({ reset }) => reset * 1000);
  return ends.length === 0 ? null : { code: 'rate_limit_exceeded', untilMs: Math.max(...ends) };
}

function toResponse({ code, untilMs }: Denial): Response {
  const seconds = Math.max(1, Math.ceil((untilMs - serviceNowMs()) / 1000));
  return Response.json(
    { code, message: 'Not sent, because it would be denied.' },
    { status: 429, headers: { 'Retry-After': String(seconds) } },
  );
}
