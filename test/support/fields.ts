import { type Item, parseItem, parseList } from 'structured-headers';

/** A link of RFC 8288, section 3, in the form that we write: a URI reference, its relation, and what else is said of it. */
const LINK = `<[\\w.~:/?#[\\]@!$&'()*+,;=%-]+>; rel="[a-z-]+"(?:; (?!rel=)[a-z]+="[^"]*")*`;
const LINKS = new RegExp(`^${LINK}(?:, ${LINK})*$`);
const INTEGERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Content-Length'];
const DATES = ['Date', 'Sunset', 'X-Api-Key-Expires'];

type Check = (value: string) => boolean;

const isInteger: Check = (value) => /^\d+$/.test(value);
const isDelay: Check = (value) => /^[1-9]\d*$/.test(value);
/** The one form of an HTTP-date that may be sent (RFC 9110, section 5.6.7). */
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

/** What of a response's fields is not as the documents have it that define them, or does not fit together; a line each. */
export function fieldFaults(headers: Headers, { isBanned }: { isBanned: boolean }): string[] {
  const malformed = FORMS.flatMap(([name, form]) => {
    const value = headers.get(name);
    return value === null || form(value) ? [] : [`${name}: ${value}`];
  });
  return [...malformed, ...windowFaults(headers, isBanned), ...sunsetFaults(headers)];
}

/** Of the windows in both forms. A ban may end later than any window. */
function windowFaults(headers: Headers, isBanned: boolean): string[] {
  const told = (name: string) => headers.get(name) ?? '';
  const policies = itemsOf(told('RateLimit-Policy'));
  const limits = itemsOf(told('RateLimit'));
  const [tightest, remaining] = [Number(told('X-RateLimit-Limit')), Number(told('X-RateLimit-Remaining'))];
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
