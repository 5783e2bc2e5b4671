import { countText } from '../../format/number';
import {
  cacheControl,
  challenge,
  linkTargets,
  parseTime,
  rateLimitLeft,
  rateLimitPolicy,
  secondsText,
  stability,
} from './phrases';

/** Text, and times that the reader sees in their own zone. */
export type Explanation = (string | Date)[];

/** What a header means, or how to say it of a value. `other` returns another header of the response, if it is there. */
type Entry = string | ((value: string, other: (name: string) => string | null) => string | Explanation);

/** Every response header that the page explains, by group, in the order in which the page shows them. */
export const CATALOGUE: Record<string, Record<string, Entry>> = {
  Limits: {
    RateLimit: (value, other) => rateLimitLeft(value, other('RateLimit-Policy') ?? ''),
    'RateLimit-Policy': rateLimitPolicy,
    'Retry-After': (value) => `Wait ${secondsText(value)} before the next request.`,
    'X-RateLimit-Limit': (value) => `The window with the fewest requests left allows ${requests(value)}.`,
    'X-RateLimit-Remaining': (value) => `${requests(value)} left in that window after this one.`,
    'X-RateLimit-Reset': (value) => ['That window, or the ban, ends on ', parseTime(`@${value}`), '.'],
    'X-RateLimit-Degraded': 'The shared counters are unavailable, so the responding server counts locally.',
  },
  'Key and operation': {
    Deprecation: (value) => ['The operation is deprecated since ', parseTime(value), '.'],
    Sunset: (value) => ['The operation is removed on ', parseTime(value), ', and then responds with 410.'],
    'X-Stability': stability,
    'X-Api-Key-Expires': (value) => ['This API key expires on ', parseTime(value), '.'],
    'WWW-Authenticate': challenge,
    Allow: (value) => `This path accepts ${value}.`,
    'Idempotent-Replayed':
      'This is the stored response to the first request with this Idempotency-Key. Nothing was created again.',
  },
  Resource: {
    Location: 'The path of the new resource.',
    Link: linkTargets,
    ETag: 'Identifies this version. Sent as If-None-Match, it gets 304 without a body while nothing has changed.',
    'Last-Modified': (value) => ['The resource last changed on ', parseTime(value), '.'],
  },
  Request: {
    'X-Request-Id': 'Identifies the request in the log of the service. Quote it when you report a problem.',
    Date: (value) => ['The service responded on ', parseTime(value), ', by its clock.'],
    'Server-Timing': 'How long the parts of the work took.',
    Connection: (value) =>
      /close/i.test(value)
        ? 'The connection closes after this response.'
        : 'The connection stays open for further requests.',
    'Keep-Alive': (value) =>
      `A connection without requests stays open for ${secondsText(/timeout=(\d+)/.exec(value)?.[1] ?? '')}.`,
    Via: 'The proxies that passed the response on.',
    Server: 'The software that responded.',
  },
  Content: {
    'Content-Type': (value) =>
      `The body is ${/json/i.test(value) ? 'JSON' : 'of this media type'}${/utf-8/i.test(value) ? ' in UTF-8' : ''}.`,
    'Content-Length': (value) => `The body has ${countText(Number(value), 'byte')}.`,
    'Content-Encoding': (value) => `The body was sent compressed (${value}).`,
    'Content-Language': 'The language of the body.',
    'Transfer-Encoding': 'The body was sent in chunks, without its length in advance.',
  },
  Caching: {
    'Cache-Control': cacheControl,
    Vary: (value) => `Caches keep a response for each value of these request headers: ${value}.`,
    Age: (value) => `The response was in a cache for ${secondsText(value)}.`,
    Expires: (value) => ['A cache may reuse the response until ', parseTime(value), '.'],
  },
  Security: {
    'X-Content-Type-Options': 'Browsers do not guess another type of content.',
    'Content-Security-Policy': (value) =>
      value.includes("default-src 'none'")
        ? 'A browser that shows the response loads nothing for it, and shows it in no frame.'
        : 'What a browser may load for the response.',
    'Strict-Transport-Security': 'Browsers use this host over HTTPS only.',
    'Referrer-Policy': 'How much of this address a browser passes on to other pages.',
    'X-Frame-Options': 'Whether other pages may show the response in a frame.',
    'Permissions-Policy': 'The features of the browser that the response may use.',
    'Cross-Origin-Resource-Policy': 'The origins that may embed the response.',
    'Access-Control-Allow-Origin': 'The web origin whose scripts may read the response.',
    'Access-Control-Expose-Headers': 'The headers that scripts of that origin may read.',
  },
};

function requests(value: string): string {
  return countText(Number(value), 'request');
}
