/** What is known of a failure beside its message. */
export interface Failure {
  /** The HTTP status, or null without a response. */
  status: number | null;
  /** For programs: a code of the service, `no_response`, `unexpected_response` or `rate_limit_wait`. */
  code: string;
  /** Names the request in the log of the service. Quote it in a report. */
  requestId: string | null;
  /** Milliseconds to wait before the next attempt, if they are known. */
  retryAfterMs: number | null;
  /** The headers of the response; empty without a response. */
  headers: Headers;
}

/** A call that failed. Its subclasses name the common reasons. */
export class AnimalStoreError extends Error implements Failure {
  override readonly name: string = 'AnimalStoreError';
  readonly status: number | null;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly headers: Headers;
  /** How many requests were sent for the call: 0 if it failed before the first. */
  attempts = 0;

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
    this.headers = failure.headers;
  }
}

/**
 * 429: the key is over a limit of its plan, or too many of its requests are in flight
 * (`too_many_concurrent_requests`).
 */
export class RateLimitError extends AnimalStoreError {
  override readonly name: string = 'RateLimitError';
}

/** 429 `api_key_banned`: the key is banned until `retryAfterMs` are over. */
export class BannedError extends RateLimitError {
  override readonly name = 'BannedError';
}

/**
 * The call would have to wait `retryAfterMs` for the rate limit, which is longer than its time. Nothing was
 * sent. `cause` is the 429 that it would have to wait for, if any, such as a `BannedError`.
 */
export class RateLimitWaitError extends RateLimitError {
  override readonly name = 'RateLimitWaitError';
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthenticationError extends AnimalStoreError {
  override readonly name = 'AuthenticationError';
}

/** 403: the operation needs a key of another role. */
export class PermissionDeniedError extends AnimalStoreError {
  override readonly name = 'PermissionDeniedError';
}

/** 400, 413 or 415: the request is invalid. The message names every invalid field. */
export class ValidationError extends AnimalStoreError {
  override readonly name = 'ValidationError';
}

/** 404: the resource does not exist. */
export class NotFoundError extends AnimalStoreError {
  override readonly name = 'NotFoundError';
}

/**
 * 409 or 422: the request conflicts with the state of the resource, or with an earlier use of its idempotency
 * key.
 */
export class ConflictError extends AnimalStoreError {
  override readonly name = 'ConflictError';
}

/** No response arrived. `cause` has the reason. */
export class ConnectionError extends AnimalStoreError {
  override readonly name: string = 'ConnectionError';
}

/** The time for an attempt, or for the whole call, was over before a response arrived. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}
