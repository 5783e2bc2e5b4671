import type { AnimalStoreError } from './error.js';

/** How often and for how long one call is tried, whichever ends first. */
export interface Budget {
  /** Attempts, the first included. */
  attempts: number;
  /** Milliseconds for all attempts and the waits before and between them. */
  totalMs: number;
  /** Milliseconds for one attempt. */
  attemptMs: number;
  /** Milliseconds that an attempt may wait for the rate limit before it is sent. */
  limitWaitMs: number;
}

/**
 * Fills in the defaults: enough to wait for the next minute once this one's limit is reached, not for the
 * next day.
 */
export function completeBudget({
  attempts = 6,
  totalMs = 90_000,
  attemptMs = 30_000,
  limitWaitMs = Infinity,
}: Partial<Budget> = {}): Budget {
  return { attempts, totalMs, attemptMs, limitWaitMs };
}

const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 10_000;

/** What a call has used of its budget. */
interface UsedBudget {
  attempts: number;
  elapsedMs: number;
}

type Reason = Pick<AnimalStoreError, 'status' | 'code' | 'retryAfterMs'>;

/**
 * Returns the milliseconds to wait at least before an attempt that follows a failed one: as `Retry-After`
 * says, and never less than an exponential backoff with full jitter.
 *
 * @param attempts how many there were.
 * @param random a number from 0 to below 1.
 */
export function retryDelayMs(
  { retryAfterMs }: Pick<Reason, 'retryAfterMs'>,
  attempts: number,
  random: () => number,
): number {
  const backoffMs = random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempts - 1));
  return Math.max(retryAfterMs ?? 0, backoffMs);
}

/**
 * Whether another attempt may succeed, and the budget allows it after `delayMs`.
 *
 * @param repeatable whether the request may be carried out twice: a GET changes nothing, and a POST with an
 *   `Idempotency-Key` is carried out once. Any other request is repeated only if the service has denied it.
 */
export function mayRetry(
  reason: Reason,
  delayMs: number,
  used: UsedBudget,
  budget: Budget,
  repeatable: boolean,
): boolean {
  return (
    (reason.status === 429 || (repeatable && isTemporary(reason))) &&
    used.attempts < budget.attempts &&
    used.elapsedMs + delayMs < budget.totalMs
  );
}

function isTemporary({ status, code }: Reason): boolean {
  switch (status) {
    case 408:
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
