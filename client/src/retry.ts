import type { AnimalStoreError } from './error.js';

/** How often and for how long one call is tried; whichever ends first. */
export interface Budget {
  /** Attempts, the first included. */
  attempts: number;
  /** Milliseconds for all attempts and the waits between. */
  totalMs: number;
  /** Milliseconds for one attempt. */
  attemptMs: number;
}

/** What is not given is enough to wait for the next minute when this one's limit is reached; not for the next day. */
export function budgetOf({
  attempts = 6,
  totalMs = 90_000,
  attemptMs = 30_000,
}: Partial<Budget> = {}): Budget {
  return { attempts, totalMs, attemptMs };
}

const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 10_000;

/** What a call has used of its budget. */
export interface Spent {
  attempts: number;
  elapsedMs: number;
}

/**
 * Milliseconds to wait before the next attempt, or null where there shall be none: where it would not help, or the budget
 * would not hold it.
 *
 * That an attempt was carried out never forbids another: a GET changes nothing, and every POST of this client carries an
 * `Idempotency-Key`.
 *
 * @param random a number from 0 to below 1.
 */
export function waitBeforeNext(
  error: Pick<AnimalStoreError, 'status' | 'code' | 'retryAfterMs'>,
  spent: Spent,
  budget: Budget,
  random: () => number,
): number | null {
  if (!isPassing(error) || spent.attempts >= budget.attempts) {
    return null;
  }
  // Who is told to come back at once does not hammer either.
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs(spent.attempts, random));
  return spent.elapsedMs + waitMs < budget.totalMs ? waitMs : null;
}

/** Whether another attempt may end otherwise. */
function isPassing({ status, code }: Pick<AnimalStoreError, 'status' | 'code'>): boolean {
  switch (status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
    case null:
      return true;
    case 409:
      return code === 'idempotency_conflict';
    default:
      return false;
  }
}

/** Exponential backoff with full jitter: anything up to a bound that doubles with each attempt. */
function backoffMs(attempts: number, random: () => number): number {
  return random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempts - 1));
}
