/** One window of a rate limit, as the headers of a response report it. */
export interface RateLimitWindow {
  /** `minute` or `day`. */
  name: string;
  /** Requests that the window allows. */
  limit: number;
  /** Requests that remain in the window. */
  remaining: number;
  /** Seconds until the window resets, rounded up. */
  resetSeconds: number;
  /** Length of the window in seconds. */
  lengthSeconds: number;
}

/** A name and its parameters. Some may be texts, or parameters of later versions. */
const ITEM = /"([^"]*)"((?:\s*;\s*[a-z][\w.*-]*(?:=(?:"[^"]*"|[^\s;,"]*))?)*)/g;
const INTEGER_PARAMETER = /;\s*([a-z][\w.*-]*)=(\d+)(?=\s*(?:;|$))/g;

/**
 * Returns the windows that `RateLimit` and `RateLimit-Policy` report
 * (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4). A window that only one of the two headers
 * names is left out.
 */
export function rateLimitWindows(headers: Headers): RateLimitWindow[] {
  const policies = parseItems(headers.get('RateLimit-Policy'));
  return [...parseItems(headers.get('RateLimit'))].flatMap(([name, { r: remaining, t: resetSeconds }]) => {
    const { q: limit, w: lengthSeconds } = policies.get(name) ?? {};
    return remaining === undefined ||
      resetSeconds === undefined ||
      limit === undefined ||
      lengthSeconds === undefined
      ? []
      : [{ name, limit, remaining, resetSeconds, lengthSeconds }];
  });
}

/** Returns the integer parameters of each named item of a structured list (RFC 9651, section 3.1). */
function parseItems(header: string | null): Map<string, Record<string, number | undefined>> {
  const items = [...(header ?? '').matchAll(ITEM)];
  return new Map(
    items.map(([, name = '', parameters = '']) => [
      name,
      Object.fromEntries(
        [...parameters.matchAll(INTEGER_PARAMETER)].map(([, key, value]) => [key, Number(value)]),
      ),
    ]),
  );
}
