import { Injectable } from '@nestjs/common';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { Clock } from '../settings/clock.js';
import { ApiError } from '../errors/api-error.js';
import { toNetwork } from '../http/rules/network.js';
import { LocalCounterStore } from './stores/local-counter-store.js';
import { addressBucketKey } from './rules/bucket-key.js';
import { retryAfterSeconds } from './rules/windows.js';

/** For each address, in each process. */
const REQUESTS_PER_MINUTE = 600;

/** Limits requests for documents, which need no key. Counts in memory, because documents are served without a database too. */
@Injectable()
export class DocumentRateLimit {
  private readonly counters: LocalCounterStore;
  /** The hook of every route that serves a document. */
  readonly onRequest: onRequestHookHandler = (request, _reply, done) =>
    done(this.check(request) ?? undefined);

  constructor(clock: Clock) {
    this.counters = new LocalCounterStore(() => clock.now(), []);
  }

  /** Returns the error of a request over the limit of its address, else null. */
  private check({ ip }: Pick<FastifyRequest, 'ip'>): ApiError | null {
    const { allowed, windows, nowMs } = this.counters.consume({
      bucketKey: addressBucketKey(toNetwork(ip)),
      perMinute: REQUESTS_PER_MINUTE,
      perDay: null,
    });
    if (allowed) {
      return null;
    }
    const seconds = retryAfterSeconds(windows, nowMs);
    return new ApiError(
      'rate_limit_exceeded',
      `This address is over ${REQUESTS_PER_MINUTE} requests per minute for documents. ` +
        `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'} before the next request.`,
      { headers: { 'Retry-After': String(seconds) } },
    );
  }
}
