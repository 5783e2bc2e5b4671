import type { AnimalStoreError } from './error.js';

/** A request that is about to be sent. */
export interface RequestEvent {
  /** Its headers may still be changed. */
  request: Request;
  /** 1 for the first request of a call. */
  attempt: number;
}

/** A response that arrived, whatever its status. */
export interface ResponseEvent {
  request: Request;
  attempt: number;
  status: number;
  headers: Headers;
  /** Milliseconds from the request to the end of the response. */
  durationMs: number;
}

/** An attempt that failed and is repeated. */
export interface RetryEvent {
  error: AnimalStoreError;
  /** The attempt that failed. */
  attempt: number;
  /** Milliseconds until the next attempt at the earliest. */
  waitMs: number;
}

/**
 * Functions that run at the stages of a call, for logs, metrics and traces. The call fails with what they
 * throw.
 */
export interface Hooks {
  onRequest?: ((event: RequestEvent) => void) | undefined;
  onResponse?: ((event: ResponseEvent) => void) | undefined;
  onRetry?: ((event: RetryEvent) => void) | undefined;
}
