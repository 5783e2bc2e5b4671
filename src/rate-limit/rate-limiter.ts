import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuthenticationResult, Principal } from '../auth/principal.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { ApiError } from '../http/routes/api-error.js';
import { banEndSeconds, secondsToBanEnd } from './rules/ban.js';
import { FallbackCounterStore } from './stores/fallback-counter-store.js';
import { findOwnLimit, type OwnLimit } from './own-limit.decorator.js';
import { clientBucketKey, clientLimits } from './rules/client.js';
import type { RateLimitDecision, RateLimitRequest } from './rules/rate-limit-decision.js';
import { retryAfterSeconds } from './rules/windows.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `RateLimiter` decided on the request; null if it was not counted. */
    decision: RateLimitDecision | null;
  }
}

@Injectable()
export class RateLimiter {
  constructor(
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'ANONYMOUS_LIMIT'>,
  ) {}

  /**
   * Counts an authenticated request in its windows. Keeps the decision on the request.
   *
   * @throws ApiError `rate_limit_exceeded` or `api_key_banned`, else the denial of a request without a valid
   * key; CounterStoreError if the count is unknown.
   */
  async authorize(request: FastifyRequest, windows: RateLimitRequest): Promise<void> {
    const { authentication } = request;
    if (authentication === null) {
      throw new Error('A request is counted once it is authenticated');
    }
    const { principal, denial } = authentication;
    request.ownLimit = principal && findOwnLimit(request);
    request.decision =
      principal === null || request.ownLimit === null
        ? await this.store.consume(windows)
        : await this.countApart(request, principal, request.ownLimit, windows);
    if (!request.decision.allowed) {
      throw rateLimitError(request.decision, authentication);
    }
    if (denial !== null) {
      throw denial;
    }
  }

  /** Returns whether the request would be allowed, by what this replica last knew of its quota. */
  mayAllow({ authentication }: FastifyRequest, windows: RateLimitRequest): boolean {
    return authentication?.denial === null && this.store.mayAllow(windows);
  }

  /**
   * Returns what this replica last knew of the client's quota, else of its address: for a request that is not
   * counted.
   */
  lastKnown(request: FastifyRequest): RateLimitDecision {
    const quota = request.lastKnownPrincipal?.quota;
    const { perMinute, perDay } = clientLimits(quota, this.environment.ANONYMOUS_LIMIT);
    return this.store.lastKnown({ bucketKey: clientBucketKey(quota, request), perMinute, perDay });
  }

  /** Returns the state of the windows, or a denial if the request exceeds its own limit. */
  private async countApart(
    request: FastifyRequest,
    principal: Principal,
    ownLimit: OwnLimit,
    windows: RateLimitRequest,
  ): Promise<RateLimitDecision> {
    const { perMinute } = ownLimit;
    const bucketKey = ownLimit.bucketKey(request, principal);
    if (request.statements !== null) {
      // The other requests of the quota, perhaps those of a thief, must not delay it.
      request.statements.borrower = { kind: 'client', owner: bucketKey };
    }
    const counted = await this.store.consume({ bucketKey, perMinute, perDay: null });
    return counted.allowed ? { ...(await this.store.peek(windows)), allowed: true } : counted;
  }
}

const EXCEEDED = 'Rate limit exceeded: ';

/**
 * Returns the error of a request that is not allowed: `api_key_banned` while a ban lasts, else
 * `rate_limit_exceeded`.
 */
function rateLimitError(decision: RateLimitDecision, authentication: AuthenticationResult): ApiError {
  const { ban, windows, nowMs } = decision;
  if (ban !== null) {
    const until = new Date(banEndSeconds(ban) * 1000).toISOString().replace('.000Z', 'Z');
    const message =
      `This API key is banned until ${until}, because too many requests followed a 429 within one minute. ` +
      `Send no requests for ${inWords(secondsToBanEnd(ban, nowMs), 'second')}. ` +
      'After any later 429 wait for Retry-After, or the key is banned again.';
    return new ApiError('api_key_banned', message);
  }
  const full = windows.filter(({ remaining }) => remaining === 0);
  const limits = full.map(({ name, limit }) => `${limit} requests per ${name}`).join(' and ');
  const wait = `Wait ${inWords(retryAfterSeconds(windows, nowMs), 'second')} before the next request.`;
  const { principal, denial } = authentication;
  if (principal === null) {
    const allowance = `an address may send ${limits} without a valid API key`;
    return new ApiError('rate_limit_exceeded', `${EXCEEDED}${allowance}. ${wait} ${denial.message}`);
  }
  // Limits of operations have one window, those of plans have two.
  const limited = windows.length > 1 ? `plan ${principal.quota.plan}` : 'this operation';
  const message = `${EXCEEDED}${limited} allows ${limits}. ${wait}${warning(decision)}`;
  return new ApiError('rate_limit_exceeded', message);
}

/** Returns what happens to a client that does not wait; nothing if bans are off. */
function warning({ denialsUntilBan }: RateLimitDecision): string {
  if (denialsUntilBan === null) {
    return '';
  }
  const remain = `${inWords(denialsUntilBan, 'denial')} ${denialsUntilBan === 1 ? 'remains' : 'remain'}`;
  return ` ${remain} within this minute until the API key is banned.`;
}

function inWords(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
