import { type Item, parseItem, parseList } from 'structured-headers';

/**
 * A link of RFC 8288, section 3, in the form that the service writes: URI reference, relation, other
 * parameters.
 */
const LINK = `<[\\w.~:/?#[\\]@!$&'()*+,;=%-]+>; rel="[a-z-]+"(?:; (?!rel=)[a-z]+="[^"]*")*`;
const LINKS = new RegExp(`^${LINK}(?:, ${LINK})*$`);
const DATES = new Set(['date', 'sunset', 'x-api-key-expires']);

/**
 * Returns a line for each header field that violates its RFC or contradicts another field. The document
 * describes the other forms, such as integers.
 *
 * @param isServedWhileBanned whether the operation serves a banned quota.
 */
export function fieldFaults(headers: Headers, isServedWhileBanned = false): string[] {
  const malformed = [...headers].filter(
    ([name, value]) =>
      // Only this form of an HTTP-date may be sent (RFC 9110, section 5.6.7).
      (DATES.has(name) && new Date(value).toUTCString() !== value) || (name === 'link' && !LINKS.test(value)),
  );
  return [
    ...malformed.map((field) => field.join(': ')),
    ...windowFaults(headers, isServedWhileBanned),
    ...sunsetFaults(headers),
  ];
}

/**
 * Compares both forms of the rate-limit headers. During a ban `X-RateLimit-Remaining` alone is 0, even
 * if a request is refused before it is judged, as by 413: its headers show the emergency budget.
 */
function windowFaults(headers: Headers, isServedWhileBanned: boolean): string[] {
  const field = (name: string) => headers.get(name) ?? '';
  const policies = parseItems(field('RateLimit-Policy'));
  const limits = parseItems(field('RateLimit'));
  const [tightest, remaining] = [Number(field('X-RateLimit-Limit')), Number(field('X-RateLimit-Remaining'))];
  const isOfBan = isServedWhileBanned || headers.has('Retry-After') || headers.has('X-RateLimit-Degraded');
  const mayBeBanned = remaining === 0 && isOfBan;
  const areSound = policies.every(([name, { q, w }], index) => {
    const [limited, { r, t }] = limits[index] ?? ['none', {}];
    return limited === name && isWithin(r, q) && isWithin(t, w);
  });
  const isOneOfThem = policies.some(
    ([, { q }], index) => q === tightest && (limits[index]?.[1]['r'] === remaining || mayBeBanned),
  );
  return policies[0]?.[0] === 'minute' && policies.length === limits.length && areSound && isOneOfThem
    ? []
    : [`windows: ${[...headers].filter(([name]) => name.includes('ratelimit')).join('; ')}`];
}

function parseItems(list: string): [name: unknown, parameters: Record<string, unknown>][] {
  return (parseList(list) as Item[]).map(([name, parameters]) => [name, Object.fromEntries(parameters)]);
}

function isWithin(value: unknown, most: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= Number(most);
}

/** A sunset is no earlier than the deprecation (RFC 9745, section 4). */
function sunsetFaults(headers: Headers): string[] {
  const [deprecation, sunset] = [headers.get('Deprecation'), headers.get('Sunset')];
  if (deprecation === null || sunset === null) {
    return deprecation === sunset ? [] : ['Deprecation and Sunset are not both there'];
  }
  const [since] = parseItem(deprecation);
  return Number(since) <= Date.parse(sunset) ? [] : [`Sunset ${sunset} is before Deprecation ${deprecation}`];
}
