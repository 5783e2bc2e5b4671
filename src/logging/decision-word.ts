import type { RateLimitDecision } from '../rate-limit/rate-limit-decision.js';

/**
 * How the rate limiter decided on a request, in one word.
 *
 * - `allowed`: it took one from each window.
 * - `denied`: a window was full.
 * - `banned`: it started or met a ban.
 * - `local`: this replica allowed it by itself, as the counter store is away.
 * - `uncounted`: it took nothing, such as `GET /v1/rate-limit`, or a request during a shutdown.
 * - `shed`: the server was overloaded.
 */
export type DecisionWord = 'allowed' | 'denied' | 'banned' | 'local' | 'uncounted' | 'shed';

/** What the word depends on besides the decision, which is null where there was none. */
interface DecidedRequest {
  decision: Pick<RateLimitDecision, 'allowed' | 'ban' | 'degraded'> | null;
  isShed: boolean;
  /** Whether it asked for its rate-limit status, which counts by itself. */
  isStatus: boolean;
}

export function decisionWord({ decision, isShed, isStatus }: DecidedRequest): DecisionWord {
  if (decision === null) {
    return isShed ? 'shed' : 'uncounted';
  }
  if (!decision.allowed) {
    return decision.ban === null ? 'denied' : 'banned';
  }
  if (isStatus) {
    return 'uncounted';
  }
  return decision.degraded ? 'local' : 'allowed';
}
