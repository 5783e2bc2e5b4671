import type { HeadersObject } from '@nestjs/swagger';

const INT32_MAX = 2_147_483_647;
/** The length of `Thu, 05 Dec 2030 00:00:00 GMT`. */
const HTTP_DATE_LENGTH = 29;
const FIELD_MAX_LENGTH = 512;
/** The length of two links, each with a cursor and filters. */
const LINKS_MAX_LENGTH = 8192;

/** Every documented response header. A header with two meanings has two keys here, whose name is in `HEADER_NAMES`. */
export const headers = {
  'X-Request-Id': {
    description: 'Identifies the request in our log. It is your own `X-Request-Id` if you sent a valid one.',
    required: true,
    schema: { type: 'string', maxLength: 128 },
    example: '7f9c2f2e-5b0c-4c3a-9a51-0a3a3a5b7c11',
  },
  'X-Api-Key-Expires': {
    description:
      'When your API key expires: an HTTP date (RFC 9110, section 5.6.7), rounded down to the second. Absent if it never expires.',
    required: false,
    schema: { type: 'string', maxLength: HTTP_DATE_LENGTH },
    example: 'Thu, 05 Dec 2030 00:00:00 GMT',
  },
  'X-RateLimit-Limit': {
    description: 'The limit of the window with the fewest requests remaining.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: INT32_MAX },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests remaining in that window after this one.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: INT32_MAX },
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'The Unix time in seconds at which that window ends, or the ban if the key is banned.',
    required: true,
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 1_764_892_860,
  },
  RateLimit: {
    description:
      'All windows in the format of draft-ietf-httpapi-ratelimit-headers-10: `r` requests remain, and the window ends in `t` seconds.',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH },
    example: '"minute";r=59;t=31, "day";r=959;t=52310',
  },
  'RateLimit-Policy': {
    description:
      'The limits in the format of draft-ietf-httpapi-ratelimit-headers-10: `q` requests in each window of `w` seconds.',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH },
    example: '"minute";q=60;w=60, "day";q=1000;w=86400',
  },
  'X-RateLimit-Degraded': {
    description:
      '`true` while the shared counters are unavailable: the responding server then counts locally. Absent otherwise.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: INT32_MAX },
    example: 31,
  },
  'WWW-Authenticate': {
    description: 'The challenge of RFC 6750. It has an `error` only if a key was sent.',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH },
    example: 'Bearer realm="animal-store", error="invalid_token", error_description="The API key is unknown"',
  },
  Location: {
    description: 'Path of the new resource.',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH, format: 'uri-reference' },
    example: '/v1/pets/7',
  },
  NoStore: {
    description: 'This response must not be stored.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
    example: 'no-store',
  },
  Revalidate: {
    description:
      'Only a private cache may store this response, and must revalidate it with `If-None-Match` before reuse.',
    required: true,
    schema: { type: 'string', enum: ['private, no-cache'] },
    example: 'private, no-cache',
  },
  ETag: {
    description: 'Identifies this response, for `If-None-Match`.',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH },
    example: '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored response to the first request with the `Idempotency-Key`. Absent otherwise.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  PageLinks: {
    description: 'Links (RFC 8288): `rel="first"` to the first page, `rel="next"` to the next page, if any.',
    required: true,
    schema: { type: 'string', maxLength: LINKS_MAX_LENGTH },
    example: '</v1/pets?limit=20&cursor=YWZ0ZXI6MjA>; rel="next", </v1/pets?limit=20>; rel="first"',
  },
  DeprecationLinks: {
    description:
      'Links (RFC 8288): `rel="successor-version"` to the replacement, `rel="deprecation"` to the documentation.',
    required: true,
    schema: { type: 'string', maxLength: LINKS_MAX_LENGTH },
    example:
      '</v1/pets?status=available>; rel="successor-version", </docs#/pets/getPet>; rel="deprecation"; type="text/html"',
  },
  'X-Stability': {
    description: 'The stability of the operation. Absent if it is stable.',
    required: false,
    schema: { type: 'string', enum: ['beta', 'experimental'] },
    example: 'beta',
  },
  Deprecation: {
    description: 'Since when the operation is deprecated: `@` and a Unix time in seconds (RFC 9745).',
    required: true,
    schema: { type: 'string', maxLength: FIELD_MAX_LENGTH, pattern: '^@\\d+$' },
    example: '@1764892800',
  },
  Sunset: {
    description: 'When the operation is removed: an HTTP date (RFC 8594).',
    required: true,
    schema: { type: 'string', maxLength: HTTP_DATE_LENGTH },
    example: 'Thu, 05 Dec 2030 00:00:00 GMT',
  },
} satisfies HeadersObject;

export type HeaderKey = keyof typeof headers;

const HEADER_NAMES: Partial<Record<HeaderKey, string>> = {
  PageLinks: 'Link',
  DeprecationLinks: 'Link',
  NoStore: 'Cache-Control',
  Revalidate: 'Cache-Control',
};

/** Returns references to these headers, by their names in a response. */
export function referToHeaders(keys: readonly HeaderKey[]): HeadersObject {
  return Object.fromEntries(
    keys.map((key) => [HEADER_NAMES[key] ?? key, { $ref: `#/components/headers/${key}` }]),
  );
}
