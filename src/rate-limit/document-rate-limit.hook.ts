import { Injectable } from '@nestjs/common';
import type { onRequestHookHandler } from 'fastify';
import { Clock } from '../process/clock.js';
import { ApiError } from '../http/routes/api-error.js';
import { toNetwork } from '../http/rules/network.js';
import { LocalCounterStore } from './stores/local-counter-store.js';
import { addressBucketKey } from './rules/bucket-key.js';
import { exceededMessage } from './rules/denial-text.js';
import { retryAfterSeconds } from './rules/windows.js';

const REQUESTS_PER_MINUTE = 600;
const ALLOWANCE = `an address may send ${REQUESTS_PER_MINUTE} requests per minute for documents`;

/**
 * Limits requests of each address for documents, which need no key. Counts in memory, because documents are
 * served without a database too.
 */
@Injectable()
export class DocumentRateLimitHook {
  private readonly counters: LocalCounterStore;

  constructor(clock: Clock) {
    this.counters = new LocalCounterStore(() => clock.now(), []);
  }

  readonly onRequest: onRequestHookHandler = ({ ip }, _reply, done) => {
    const decision = this.counters.consume({
      bucketKey: addressBucketKey(toNetwork(ip)),
      perMinute: REQUESTS_PER_MINUTE,
      perDay: null,
    });
    if (decision.allowed) {
      done();
      return;
    }
    const headers = { 'Retry-After': String(retryAfterSeconds(decision.windows, decision.nowMs)) };
    done(new ApiError('rate_limit_exceeded', exceededMessage(ALLOWANCE, decision), { headers }));
  };
}
