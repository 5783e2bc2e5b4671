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

/** Enough to wait for the next minute when this one's limit is reached; not for the next day. */
export const DEFAULT_BUDGET: Budget = { attempts: 6, totalMs: 90_000, attemptMs: 30_000 };

const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 10_000;

/** What a call has used of its budget. */
export interface Spent {
  attempts: number;
  elapsedMs: number;
}

/**
 * Milliseconds to wait before the next attempt, or null where there shall be none: where it would not help, would not be
 * safe, or the budget would not hold it.
 *
 * @param isRepeatable whether a second attempt does no harm if the first was carried out.
 * @param random a number from 0 to below 1.
 */
export function waitBeforeNext(
  error: Pick<AnimalStoreError, 'status' | 'code' | 'retryAfterMs'>,
  isRepeatable: boolean,
  spent: Spent,
  budget: Budget,
  random: () => number,
): number | null {
  if (!isPassing(error, isRepeatable) || spent.attempts >= budget.attempts) {
    return null;
  }
  const waitMs = error.retryAfterMs ?? backoffMs(spent.attempts, random);
  return spent.elapsedMs + waitMs < budget.totalMs ? waitMs : null;
}

/** Whether another attempt may end otherwise, and may be made. */
function isPassing(
  { status, code }: Pick<AnimalStoreError, 'status' | 'code'>,
  isRepeatable: boolean,
): boolean {
  switch (status) {
    case 429:
    case 503:
      return true;
    case 409:
      return code === 'idempotency_conflict';
    case 500:
    case 502:
    case 504:
    case null:
      return isRepeatable;
    default:
      return false;
  }
}

/** Exponential backoff with full jitter: anything up to a bound that doubles with each attempt. */
function backoffMs(attempts: number, random: () => number): number {
  return random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempts - 1));
}
