import { INT32_MAX } from '../schemas/int32.js';
import { openEnumSchema } from '../schemas/open-enum.js';
import type { HeaderObject, HeadersObject, SchemaObject } from '@nestjs/swagger';

/** The length of `Thu, 05 Dec 2030 00:00:00 GMT`. */
const HTTP_DATE_LENGTH = 29;
const FIELD_MAX_LENGTH = 512;
/** The length of two links, each with a cursor and filters. */
const LINKS_MAX_LENGTH = 8192;

const header = <Schema extends SchemaObject>(
  description: string,
  example: string | number,
  schema: Schema,
) => ({
  description,
  required: true,
  schema,
  example,
});
const text = (
  description: string,
  example: string,
  { maxLength = FIELD_MAX_LENGTH, ...schema }: SchemaObject = {},
) => header(description, example, { type: 'string', maxLength, ...schema });
const long = (description: string, example: number, minimum = 0) =>
  header(description, example, {
    type: 'integer',
    format: 'int64',
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
  });
const constant = (description: string, value: string) =>
  header(description, value, { type: 'string', const: value });
const optional = (described: HeaderObject) => ({ ...described, required: false });

/** Every response header. One with two meanings has two keys, whose name is in `HEADER_NAMES`. */
export const headers = {
  'X-Request-Id': text(
    'Identifies the request in our log. It is your own `X-Request-Id` if you sent one of at most 128 ' +
      'letters, digits and `_.:+/=@-` that contains no API key.',
    '7f9c2f2e-5b0c-4c3a-9a51-0a3a3a5b7c11',
    { maxLength: 128 },
  ),
  'X-Api-Key-Expires': optional(
    text(
      'When your API key expires: an HTTP date (RFC 9110, section 5.6.7), rounded down to the second. ' +
        'Absent if it never expires.',
      'Thu, 05 Dec 2030 00:00:00 GMT',
      { maxLength: HTTP_DATE_LENGTH },
    ),
  ),
  'X-RateLimit-Limit': long('The limit of the window with the fewest requests remaining.', 60, 1),
  'X-RateLimit-Remaining': long('Requests remaining in that window after this one.', 59),
  'X-RateLimit-Reset': long(
    'The Unix time in seconds at which that window ends, or the ban if the key is banned.',
    1_764_892_860,
  ),
  RateLimit: text(
    'All windows in the format of draft-ietf-httpapi-ratelimit-headers-11: ' +
      '`r` requests remain, and the window ends in `t` seconds.',
    '"minute";r=59;t=31, "day";r=959;t=52310',
  ),
  'RateLimit-Policy': text(
    'The limits in the format of draft-ietf-httpapi-ratelimit-headers-11: ' +
      '`q` requests in each window of `w` seconds.',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  'X-RateLimit-Degraded': optional(
    constant(
      '`true` while the shared counters are unavailable: the responding server then counts locally. ' +
        'Absent otherwise.',
      'true',
    ),
  ),
  'Retry-After': header('Whole seconds to wait before the next attempt.', 31, {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: INT32_MAX,
  }),
  'WWW-Authenticate': text(
    'The challenge of RFC 6750. It has an `error` only if a key was sent.',
    'Bearer realm="animal-store", error="invalid_token", error_description="The API key is unknown"',
  ),
  ScopeChallenge: optional(
    text(
      'The challenge of RFC 6750 that names the missing scope. Present with `insufficient_scope` only.',
      'Bearer realm="animal-store", error="insufficient_scope", scope="pets:write"',
    ),
  ),
  Location: text('Path of the new resource.', '/v1/pets/7', { format: 'uri-reference' }),
  NoStore: constant('This response must not be stored.', 'no-store'),
  Revalidate: constant(
    'Only a private cache may store this response, and must revalidate it with `If-None-Match` before reuse.',
    'private, no-cache',
  ),
  ETag: text('Identifies this response, for `If-None-Match`.', '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"'),
  'Idempotent-Replayed': optional(
    constant(
      '`true` if this is the stored response to the first request with the `Idempotency-Key`. ' +
        'Absent otherwise.',
      'true',
    ),
  ),
  PageLinks: text(
    'Links (RFC 8288): `rel="first"` to the first page, `rel="next"` to the next page, if any.',
    '</v1/pets?limit=20&cursor=YWZ0ZXI6MjA>; rel="next", </v1/pets?limit=20>; rel="first"',
    { maxLength: LINKS_MAX_LENGTH },
  ),
  'X-Total-Count': long('The number of entries on all pages, when this page was read.', 134),
  'X-Missing-Count': long(
    'The failed requests of the minutes within the range that are not kept, because there were too many.',
    0,
  ),
  DeprecationLinks: text(
    'Links (RFC 8288): `rel="successor-version"` to each operation to call instead, the nearest first, ' +
      '`rel="deprecation"` and `rel="sunset"` to the documentation.',
    '</v1/pets?id=7>; rel="successor-version", </v1/pets?status=available>; rel="successor-version", ' +
      '</docs#/pets/getPet>; rel="deprecation"; type="text/html", ' +
      '</docs#/pets/getPet>; rel="sunset"; type="text/html"',
    { maxLength: LINKS_MAX_LENGTH },
  ),
  'X-Stability': optional(
    header(
      'The stability of the operation. Absent if it is stable.',
      'beta',
      openEnumSchema(['beta', 'experimental']),
    ),
  ),
  Deprecation: text(
    'Since when the operation is deprecated: `@` and a Unix time in seconds (RFC 9745).',
    '@1764892800',
    { pattern: '^@\\d+$' },
  ),
  Sunset: text('When the operation is removed: an HTTP date (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT', {
    maxLength: HTTP_DATE_LENGTH,
  }),
} satisfies HeadersObject;

export type HeaderKey = keyof typeof headers;

const HEADER_NAMES: Partial<Record<HeaderKey, string>> = {
  PageLinks: 'Link',
  DeprecationLinks: 'Link',
  NoStore: 'Cache-Control',
  Revalidate: 'Cache-Control',
  ScopeChallenge: 'WWW-Authenticate',
};

/** Returns references to these headers, by their names in a response. */
export function referToHeaders(keys: readonly HeaderKey[]): HeadersObject {
  return Object.fromEntries(
    keys.map((key) => [HEADER_NAMES[key] ?? key, { $ref: `#/components/headers/${key}` }]),
  );
}
