import {
  AnimalStoreError,
  AuthenticationError,
  BannedError,
  ConflictError,
  ConnectionError,
  type Failure,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RateLimitWaitError,
  TimeoutError,
  ValidationError,
} from './error.js';
import { retryAfterMs } from './retry-after.js';

const ERROR_OF_STATUS: Record<number, typeof AnimalStoreError> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  413: ValidationError,
  415: ValidationError,
  422: ConflictError,
  429: RateLimitError,
};

const WITHOUT_RESPONSE = { status: null, requestId: null, retryAfterMs: null };

/** Returns the error of an attempt without a response: the network failed, or the time was over. */
export function noResponse(cause: unknown): ConnectionError {
  const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError';
  return new (isTimeout ? TimeoutError : ConnectionError)(
    `No response came: ${describeCause(cause)}`,
    { ...WITHOUT_RESPONSE, code: 'no_response', headers: new Headers() },
    { cause },
  );
}

/**
 * Returns the error of a call that would have to wait longer for the rate limit than its time allows.
 *
 * @param cause the 429 that it would have to wait for, if any.
 */
export function rateLimitWait(waitMs: number, cause: AnimalStoreError | null): RateLimitWaitError {
  return new RateLimitWaitError(
    `The call would have to wait ${Math.ceil(waitMs / 1000)} s for the rate limit, which is longer ` +
      'than its time. Nothing was sent.',
    { ...WITHOUT_RESPONSE, code: 'rate_limit_wait', retryAfterMs: waitMs, headers: new Headers() },
    cause === null ? {} : { cause },
  );
}

/** Returns the error that a response reports. */
export function errorOfResponse(response: Response, text: string, nowMs: number): AnimalStoreError {
  const body = errorBody(text);
  if (body === null) {
    return unexpectedResponse(response, nowMs);
  }
  const { code, message } = body;
  const ErrorClass =
    code === 'api_key_banned' ? BannedError : (ERROR_OF_STATUS[response.status] ?? AnimalStoreError);
  return new ErrorClass(message, { ...readFailure(response, nowMs), code });
}

/** Returns the error of a response that is not in the form of the service, such as a page of a proxy. */
export function unexpectedResponse(
  response: Response,
  nowMs: number,
  options?: ErrorOptions,
): AnimalStoreError {
  const { status, statusText } = response;
  return new AnimalStoreError(
    `The response did not come from the Animal Store: HTTP ${status} ${statusText}`.trimEnd(),
    { ...readFailure(response, nowMs), code: 'unexpected_response' },
    options,
  );
}

/** Describes a cause and its own cause, because "fetch failed" alone explains nothing. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) {
    return String(cause);
  }
  const inner = cause.cause instanceof Error ? cause.cause.message : '';
  return inner === '' ? cause.message : `${cause.message} (${inner})`;
}

function readFailure({ status, headers }: Response, nowMs: number): Omit<Failure, 'code'> {
  return {
    status,
    requestId: headers.get('X-Request-Id'),
    retryAfterMs: retryAfterMs(headers.get('Retry-After'), nowMs),
    headers,
  };
}

function errorBody(text: string): { code: string; message: string } | null {
  try {
    const { code, message } = JSON.parse(text);
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : null;
  } catch {
    return null;
  }
}
