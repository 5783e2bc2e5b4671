import { type Item, parseItem, parseList } from 'structured-headers';

/** A link of RFC 8288, section 3, in the form that the service writes: URI reference, relation, other parameters. */
const LINK = `<[\\w.~:/?#[\\]@!$&'()*+,;=%-]+>; rel="[a-z-]+"(?:; (?!rel=)[a-z]+="[^"]*")*`;
const LINKS = new RegExp(`^${LINK}(?:, ${LINK})*$`);
const INTEGERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Content-Length'];
const DATES = ['Date', 'Sunset', 'X-Api-Key-Expires'];

type Check = (value: string) => boolean;

const isInteger: Check = (value) => /^\d+$/.test(value);
const isDelay: Check = (value) => /^[1-9]\d*$/.test(value);
/** Only this form of an HTTP-date may be sent (RFC 9110, section 5.6.7). */
const isHttpDate: Check = (value) => new Date(value).toUTCString() === value;
const isSince: Check = (value) => parseItem(value)[0] instanceof Date;
const areLinks: Check = (value) => LINKS.test(value);

const FORMS: [name: string, form: Check][] = [
  ...INTEGERS.map((name): [string, Check] => [name, isInteger]),
  ...DATES.map((name): [string, Check] => [name, isHttpDate]),
  ['Retry-After', isDelay],
  ['Deprecation', isSince],
  ['Link', areLinks],
];

/** Returns a line for each header field that violates its RFC or contradicts another field. */
export function fieldFaults(headers: Headers, { isBanned }: { isBanned: boolean }): string[] {
  const malformed = FORMS.flatMap(([name, form]) => {
    const value = headers.get(name);
    return value === null || form(value) ? [] : [`${name}: ${value}`];
  });
  return [...malformed, ...windowFaults(headers, isBanned), ...sunsetFaults(headers)];
}

/** Compares both forms of the rate-limit headers. A ban may end later than any window. */
function windowFaults(headers: Headers, isBanned: boolean): string[] {
  const field = (name: string) => headers.get(name) ?? '';
  const policies = itemsOf(field('RateLimit-Policy'));
  const limits = itemsOf(field('RateLimit'));
  const [tightest, remaining] = [Number(field('X-RateLimit-Limit')), Number(field('X-RateLimit-Remaining'))];
  const areSound = policies.every(([name, { q, w }], index) => {
    const [limited, { r, t }] = limits[index] ?? ['none', {}];
    return limited === name && isWithin(r, q) && (isWithin(t, w) || isBanned);
  });
  const isOneOfThem = policies.some(
    ([, { q }], index) => q === tightest && limits[index]?.[1]['r'] === remaining,
  );
  return policies[0]?.[0] === 'minute' && policies.length === limits.length && areSound && isOneOfThem
    ? []
    : [`windows: ${[...headers].filter(([name]) => name.includes('ratelimit')).join('; ')}`];
}

function itemsOf(list: string): [name: unknown, parameters: Record<string, unknown>][] {
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
