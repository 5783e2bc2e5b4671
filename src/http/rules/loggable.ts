/** Matches a key without its first letter, which may be percent-encoded. */
const API_KEY = /sk_(live|test)_[0-9A-Za-z]+/g;
/** Matches a letter, digit or underscore that is percent-encoded, once or several times. */
const ENCODED = /%(?:25)*(3\d|[46][1-9a-f]|[57][\da]|5f)/gi;
const CONTROLS = /\p{Cc}/gu;
/** Few texts match; all others are logged unchanged. */
const SUSPECT = /[^\x20-\x7e]|sk_|%/;

/** No path of this service is longer; the rest would only fill the disk. */
const MAX_LENGTH = 256;

/** Returns the requested path, cut, without the query and keys. */
export function loggablePath({ originalUrl }: { originalUrl: string }): string {
  const end = originalUrl.indexOf('?');
  const path = withoutKeys(end === -1 ? originalUrl : originalUrl.slice(0, end));
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path;
}

/** Returns the header `User-Agent`, cut, without control characters and keys; undefined if there is none. */
export function loggableUserAgent({
  headers,
}: {
  headers: { 'user-agent'?: string | undefined };
}): string | undefined {
  const userAgent = headers['user-agent']?.slice(0, MAX_LENGTH);
  // Keys last: a control character between its letters would hide one.
  return userAgent !== undefined && SUSPECT.test(userAgent)
    ? withoutKeys(userAgent.replace(CONTROLS, ''))
    : userAgent;
}

/** Returns a text without the keys in it, some of whose letters may be percent-encoded. */
export function withoutKeys(text: string): string {
  const plain = text.includes('%') ? text.replace(ENCODED, (_match, code) => decodeURI(`%${code}`)) : text;
  return plain.includes('sk_') && plain.search(API_KEY) >= 0 ? plain.replace(API_KEY, 'sk_$1_…') : text;
}
