import type { FastifyRequest } from 'fastify';

/** Also where its first letter is an escape. */
const API_KEY = /sk_(live|test)_[0-9A-Za-z]+/g;
const CONTROLS = /\p{Cc}/gu;
/** What nearly every text lacks, so that it needs no change. */
const SUSPECT = /[^\x20-\x7e]|sk_/;

/** No path of this service is longer; the rest would only fill the disk. */
const PATH_MAX_LENGTH = 256;
const USER_AGENT_MAX_LENGTH = 256;

/** What a proxy says of its client may be anything where `TRUST_PROXY` trusts one too many. */
const ADDRESS = /^[\da-f.:[\]]{2,64}$/i;

/** Returns the requested path without the query, cut, and without a key that somebody put into it. */
export function loggablePath({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): string {
  const end = originalUrl.indexOf('?');
  const path = withoutKeys(end === -1 ? originalUrl : originalUrl.slice(0, end));
  return path.length > PATH_MAX_LENGTH ? `${path.slice(0, PATH_MAX_LENGTH)}…` : path;
}

/** Returns the client's address, or `unknown` where a proxy sent something else. */
export function loggableAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  return ADDRESS.test(ip) ? ip : 'unknown';
}

/** Returns the header `User-Agent`, cut, without control characters and keys; undefined where there is none. */
export function loggableUserAgent({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const userAgent = headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH);
  // Keys last: a control character between its letters would hide one.
  return userAgent !== undefined && SUSPECT.test(userAgent)
    ? withoutKeys(userAgent.replace(CONTROLS, ''))
    : userAgent;
}

function withoutKeys(text: string): string {
  return text.includes('sk_') ? text.replace(API_KEY, 'sk_$1_…') : text;
}
