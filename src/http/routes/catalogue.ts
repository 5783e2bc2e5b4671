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

/** `Retry-After` of errors that pass by themselves. */
export const retrySecondsOfCode: Partial<Record<ErrorCode, number>> = {
  idempotency_conflict: 1,
  too_many_concurrent_requests: 1,
  service_unavailable: 1,
};
