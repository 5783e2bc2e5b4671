import { AsyncLocalStorage } from 'node:async_hooks';
import type { preValidationHookHandler } from 'fastify';

/** The longest time of a statement, even if PostgreSQL does not respond. */
export const SILENCE_TIMEOUT_MS = 4000;
/** Every request has its response within this time of its arrival, less what this process itself needs. */
const DEADLINE_MS = 6000 - 100;

/** When the last statement of the current request may start, by the monotonic clock. */
const lastStart = new AsyncLocalStorage<number>();

const CODE = 'REQUEST_DEADLINE';

/** A request has no time left for another statement. */
export class RequestDeadlineError extends Error {
  readonly code = CODE;

  constructor() {
    super('The request has no time left for another statement');
  }
}

/** Returns whether an error is a `RequestDeadlineError`, of which Prisma passes on the code alone. */
export function isRequestDeadline(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === CODE;
}

/**
 * Starts the deadline of a request that has arrived whole. The work that it causes shares the deadline,
 * without passing it along. A statement starts only if it would end in time even if it took its maximum time.
 */
export const startDeadline: preValidationHookHandler = (_request, _reply, done) =>
  lastStart.run(performance.now() + DEADLINE_MS - SILENCE_TIMEOUT_MS, done);

/**
 * Returns when the last statement of a request may start, by the monotonic clock; Infinity outside of one.
 */
export function lastStartMs(): number {
  return lastStart.getStore() ?? Infinity;
}

/** @throws RequestDeadlineError once the current request has no time left for a statement. */
export function requireTimeLeft(): void {
  if (performance.now() >= lastStartMs()) {
    throw new RequestDeadlineError();
  }
}

/** Runs work whose last statement may start at `ms`: of several requests, or (Infinity) of the background. */
export function withLastStart<Result>(ms: number, work: () => Result): Result {
  return lastStart.run(ms, work);
}
