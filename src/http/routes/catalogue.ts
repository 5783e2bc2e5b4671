/** The HTTP status of every error code. A retired code is never reused: clients may still branch on it. */
export const statusOfCode = {
  invalid_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  forbidden: 403,
  address_not_allowed: 403,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  idempotency_conflict: 409,
  endpoint_removed: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  api_key_banned: 429,
  too_many_concurrent_requests: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/** The messages that do not depend on the request, which documents show too. */
export const usualMessages = {
  missing_api_key: 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".',
  forbidden: 'This needs an API key whose role is admin.',
  idempotency_conflict:
    'A request with this Idempotency-Key is still in progress. Send it again shortly to get its response.',
  payload_too_large: 'The body is larger than 64 KiB.',
  unsupported_media_type: 'The body must be JSON, with the header Content-Type: application/json.',
  idempotency_key_reused:
    'This Idempotency-Key was used for another request within the last 24 hours. Use a new one for each.',
  too_many_concurrent_requests:
    'Too many requests of this client are in flight at once. Send fewer at a time, and this one again ' +
    'shortly.',
} satisfies Partial<Record<ErrorCode, string>>;

/** `Retry-After` of errors that pass by themselves. */
export const retrySecondsOfCode: Partial<Record<ErrorCode, number>> = {
  idempotency_conflict: 1,
  too_many_concurrent_requests: 1,
  service_unavailable: 1,
};
