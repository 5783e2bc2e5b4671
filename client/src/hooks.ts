import type { AnimalStoreError } from './error.js';

/** A request that is about to be sent. */
export interface ClientRequestEvent {
  /** Its headers may still be changed. */
  request: Request;
  /** 1 for the first request of a call. */
  attempt: number;
}

/** A response that arrived, whatever its status. */
export interface ClientResponseEvent {
  request: Request;
  attempt: number;
  status: number;
  headers: Headers;
  /** Milliseconds from the request to the end of the response. */
  durationMs: number;
}

/** An attempt that failed and is repeated. */
export interface ClientRetryEvent {
  error: AnimalStoreError;
  /** The attempt that failed. */
  attempt: number;
  /** Milliseconds until the earliest next attempt. */
  waitMs: number;
}

/** The first call of a deprecated operation in this process, as the headers of its response describe it. */
export interface ClientDeprecationEvent {
  /** Method and path template, such as `GET /pets/{petId}`. */
  operation: string;
  /** The facts below, as a sentence. */
  message: string;
  /** Since when it is deprecated; null if the response does not say. */
  deprecatedAt: Date | null;
  /** When it is removed; null if the response does not say. */
  sunsetAt: Date | null;
  /** The paths or addresses of what replaces it, the nearest first. */
  successors: string[];
}

/**
 * Functions that run at the stages of a call, for logs, metrics and traces. The call fails with what they
 * throw.
 */
export interface ClientHooks {
  onRequest?: ((event: ClientRequestEvent) => void) | undefined;
  onResponse?: ((event: ClientResponseEvent) => void) | undefined;
  onRetry?: ((event: ClientRetryEvent) => void) | undefined;
  /** Writes the message to the console by default. */
  onDeprecation?: ((event: ClientDeprecationEvent) => void) | undefined;
}
