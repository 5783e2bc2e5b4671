import type { AnimalStoreError } from './error.js';

/** How often and for how long one call is tried, whichever ends first. */
export interface CallBudget {
  /** Attempts, the first included. */
  maxAttempts: number;
  /** Milliseconds for all attempts and the waits before and between them. */
  timeoutMs: number;
  /** Milliseconds for one attempt. */
  attemptTimeoutMs: number;
  /** Milliseconds that an attempt may wait for the rate limit before it is sent. */
  maxRateLimitWaitMs: number;
}

/**
 * Fills in the defaults: enough to wait for the next minute once this one's limit is reached, not for the
 * next day.
 */
export function completeBudget({
  maxAttempts = 6,
  timeoutMs = 90_000,
  attemptTimeoutMs = 30_000,
  maxRateLimitWaitMs = Infinity,
}: Partial<CallBudget> = {}): CallBudget {
  return { maxAttempts, timeoutMs, attemptTimeoutMs, maxRateLimitWaitMs };
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
  budget: CallBudget,
  repeatable: boolean,
): boolean {
  return (
    (reason.status === 429 || (repeatable && isTemporary(reason))) &&
    used.attempts < budget.maxAttempts &&
    used.elapsedMs + delayMs < budget.timeoutMs
  );
}

/** Whether a response denies all further requests of the key for a time, by a limit of its plan or a ban. */
export function deniesKey({ status, code }: Pick<Reason, 'status' | 'code'>): boolean {
  return status === 429 && !deniesConcurrency({ code });
}

/** Whether a response denies a request because too many of the quota are in flight: fewer at once succeed. */
export function deniesConcurrency({ code }: Pick<Reason, 'code'>): boolean {
  return code === 'too_many_concurrent_requests';
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
