import { Injectable } from '@nestjs/common';
import type { onRequestHookHandler } from 'fastify';
import { Clock } from '../process/clock.js';
import { ApiError } from '../http/routes/api-error.js';
import { toNetwork } from '../http/rules/network.js';
import { LocalCounterStore } from './stores/local-counter-store.js';
import { addressBucketKey } from './rules/bucket-key.js';
import { exceededMessage } from './rules/denial-text.js';
import type { RateLimitDecision } from './rules/rate-limit-decision.js';
import { retryAfterSeconds } from './rules/windows.js';

/** For each address, in each process. */
const REQUESTS_PER_MINUTE = 600;
const ALLOWANCE = `an address may send ${REQUESTS_PER_MINUTE} requests per minute for documents`;

/**
 * Limits requests for documents, which need no key. Counts in memory, because documents are served without a
 * database too.
 */
@Injectable()
export class DocumentRateLimitHook {
  private readonly counters: LocalCounterStore;

  constructor(clock: Clock) {
    this.counters = new LocalCounterStore(() => clock.now(), []);
  }

  /** The hook of every route that serves a document. */
  readonly onRequest: onRequestHookHandler = ({ ip }, _reply, done) => {
    const decision = this.counters.consume({
      bucketKey: addressBucketKey(toNetwork(ip)),
      perMinute: REQUESTS_PER_MINUTE,
      perDay: null,
    });
    done(decision.allowed ? undefined : rateLimitError(decision));
  };
}

function rateLimitError(decision: RateLimitDecision): ApiError {
  const headers = { 'Retry-After': String(retryAfterSeconds(decision.windows, decision.nowMs)) };
  return new ApiError('rate_limit_exceeded', exceededMessage(ALLOWANCE, decision), { headers });
}
