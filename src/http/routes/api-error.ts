import { type ErrorCode, retrySecondsOfCode, statusOfCode } from './catalogue.js';

/** The body of every error response: exactly these three fields. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  status: number;
}

/** An error whose `message` tells its client what was wrong and what to do; `cause` is for the log alone. */
export class ApiError extends Error {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    const seconds = retrySecondsOfCode[code];
    this.headers = { ...(seconds !== undefined && { 'Retry-After': String(seconds) }), ...options.headers };
  }

  get status(): number {
    return statusOfCode[this.code];
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}
