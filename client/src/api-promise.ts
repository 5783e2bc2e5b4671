import type { RateLimitWindow } from './rate-limit-headers.js';

/** The result of a call, with the status and headers of its response. */
export interface ApiResponse<Result> {
  data: Result;
  status: number;
  headers: Headers;
  /** Names the request in the log of the service. */
  requestId: string | null;
  /** The windows of the key after this request. */
  rateLimit: RateLimitWindow[];
  /** How many requests were sent for the call. */
  attempts: number;
}

/** The promise of a result, which `withResponse()` gives together with its response. */
export class ApiPromise<Result> extends Promise<Result> {
  /** What `then` returns is a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** @internal */
  constructor(private readonly respond: () => Promise<ApiResponse<Result>>) {
    // Never used: `then`, and with it `await`, `catch` and `finally`, is that of the response.
    super((resolve) => resolve(undefined as never));
  }

  /** Resolves with the result and the status, headers, request id and rate limit of its response. */
  withResponse(): Promise<ApiResponse<Result>> {
    return this.respond();
  }

  // oxlint-disable-next-line unicorn/no-thenable
  override then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((result: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.withResponse()
      .then(({ data }) => data)
      .then(onFulfilled, onRejected);
  }
}
