import { retryAfterMs } from './retry-after.js';

/** What is known of a failure beside its message. */
export interface Failure {
  /** The HTTP status, or null where no answer came. */
  status: number | null;
  /** What it is, for a program: a code of the service, `no_answer` or `unexpected_answer`. */
  code: string;
  /** Names the request in the service's log; tell it when you ask about the error. */
  requestId: string | null;
  /** Milliseconds to wait before the next attempt, where the service told. */
  retryAfterMs: number | null;
  /** The headers of the answer; none where none came. */
  headers: Headers;
}

/** A call that did not succeed. */
export class AnimalStoreError extends Error implements Failure {
  override readonly name = 'AnimalStoreError';
  readonly status: number | null;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly headers: Headers;
  /** How often the call was tried, the first time included. */
  attempts = 1;

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
    this.headers = failure.headers;
  }
}

/** The network failed, or the time for one attempt was over. */
export function noAnswer(cause: unknown): AnimalStoreError {
  return new AnimalStoreError(
    `No answer came: ${reasonOf(cause)}`,
    { status: null, code: 'no_answer', requestId: null, retryAfterMs: null, headers: new Headers() },
    { cause },
  );
}

/** With the cause of the cause: "fetch failed" alone says little. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) {
    return String(cause);
  }
  const beneath = cause.cause instanceof Error ? cause.cause.message : '';
  return beneath === '' ? cause.message : `${cause.message} (${beneath})`;
}

/** The service, or what stands before it, answered that the call did not succeed. */
export function refusal(response: Response, text: string, nowMs: number): AnimalStoreError {
  const said = errorBody(text);
  return said === null
    ? unexpectedAnswer(response, nowMs)
    : new AnimalStoreError(said.message, { ...failureOf(response, nowMs), code: said.code });
}

/** The answer is not in the form of the service: somebody between may have given it. */
export function unexpectedAnswer(
  response: Response,
  nowMs: number,
  options?: ErrorOptions,
): AnimalStoreError {
  return new AnimalStoreError(
    `The answer is not one of the Animal Store: HTTP ${response.status} ${response.statusText}`.trimEnd(),
    { ...failureOf(response, nowMs), code: 'unexpected_answer' },
    options,
  );
}

function failureOf({ status, headers }: Response, nowMs: number): Omit<Failure, 'code'> {
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
