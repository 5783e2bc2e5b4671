import { AsyncLocalStorage } from 'node:async_hooks';
import type { preValidationHookHandler } from 'fastify';
import { UnavailableError } from './unavailable-error.js';

/** The longest time of a statement, even if PostgreSQL does not respond. */
export const SILENCE_TIMEOUT_MS = 4000;
/** Every request has its response within this time of its arrival, less what this process itself needs. */
const DEADLINE_MS = 6000 - 100;

declare module 'fastify' {
  interface FastifyRequest {
    /** What its statements share; null before it has arrived whole. */
    statements: Statements | null;
  }
}

/** For whom a connection is borrowed: a client, by its quota or bucket, or a read by an administrator. */
type Borrower = { kind: 'client'; owner: string } | { kind: 'reader'; owner?: undefined };

/** What the statements of a request share. */
export interface Statements {
  /** When the last may start, by the monotonic clock. */
  lastStartMs: number;
  /** Undefined for all who may use every connection. */
  borrower?: Borrower;
}

const current = new AsyncLocalStorage<Statements>();

const CODE = 'REQUEST_DEADLINE';

/** Returns the error of a request that has no time left for another statement. */
export function requestDeadlineError(): UnavailableError {
  const message = 'The request has no time left for another statement';
  return Object.assign(new UnavailableError('The database', CODE, message), { code: CODE });
}

/** Returns whether an error is a `requestDeadlineError`, of which Prisma passes on the code alone. */
export function isRequestDeadline(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === CODE;
}

/**
 * Starts the deadline of a request that has arrived whole. The work that it causes shares the deadline,
 * without passing it along. A statement starts only if it would end in time even if it took its maximum time.
 */
export const startDeadline: preValidationHookHandler = (request, _reply, done) => {
  request.statements = { lastStartMs: performance.now() + DEADLINE_MS - SILENCE_TIMEOUT_MS };
  current.run(request.statements, done);
};

/**
 * Returns when the last statement of a request may start, by the monotonic clock; Infinity outside of one.
 */
export function lastStartMs(): number {
  return current.getStore()?.lastStartMs ?? Infinity;
}

/** @throws UnavailableError once the current request has no time left for a statement. */
export function requireTimeLeft(): void {
  if (performance.now() >= lastStartMs()) {
    throw requestDeadlineError();
  }
}

/** Returns for whom the current request borrows a connection; undefined if it may use every connection. */
export function findBorrower(): Borrower | undefined {
  return current.getStore()?.borrower;
}

/**
 * Runs work whose last statement may start at `ms`: of several requests, or (Infinity) of the background. It
 * may use every connection.
 */
export function withLastStart<Result>(ms: number, work: () => Result): Result {
  return current.run({ lastStartMs: ms }, work);
}
