import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { AuthenticationResult, Principal } from '../auth/principal.js';
import { ApiError } from '../http/routes/api-error.js';
import { findOwnLimit, type OwnLimit } from './own-limit.decorator.js';
import { banEndSeconds, secondsToBanEnd } from './rules/ban.js';
import { exceededMessage, inWords } from './rules/denial-text.js';
import type { RateLimitDecision, RateLimitRequest } from './rules/rate-limit-decision.js';
import { FallbackCounterStore } from './stores/fallback-counter-store.js';
import type { WindowOptions } from './throttler-options.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `RateLimitGuard` decided on the request; null if it was not counted. */
    decision: RateLimitDecision | null;
  }
}

/** Allows a request that both windows of `throttlerOptions()` have room for, and that has a valid key. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  declare protected throttlers: WindowOptions['throttlers'];
  declare protected commonOptions: WindowOptions;
  @Inject() private readonly store!: FallbackCounterStore;

  /**
   * Counts both windows in one step; the method that it overrides counts one after the other. Returns no
   * promise for a read whose handler waits for the decision (`ServedWhileCounted()`), unless its bucket is
   * known to be empty or banned.
   *
   * @throws ApiError `rate_limit_exceeded` or `api_key_banned`, else the denial of a request without a valid
   * key; UnavailableError if the count is unknown.
   */
  // oxlint-disable-next-line typescript/promise-function-async
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return (this.commonOptions.skipIf(context) || this.authorize(context)) as Promise<boolean>;
  }

  private authorize(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    const { authentication } = request;
    if (authentication === null) {
      throw new Error('A request is counted once it is authenticated');
    }
    const [minute, day] = this.throttlers;
    const windows: RateLimitRequest = {
      bucketKey: this.commonOptions.getTracker(request),
      perMinute: minute.limit(context),
      perDay: day.skipIf(context) ? null : day.limit(context),
    };
    const overlaps =
      request.routeOptions.config.isServedWhileCounted === true &&
      authentication.denial === null &&
      this.store.lastKnown(windows).allowed;
    const decided = this.decide(request, authentication, windows);
    if (!overlaps) {
      return decided.then(() => true);
    }
    request.pendingDecision = decided;
    // The handler waits for it, and throws a denial.
    decided.catch(() => {});
    return true;
  }

  private async decide(
    request: FastifyRequest,
    authentication: AuthenticationResult,
    windows: RateLimitRequest,
  ): Promise<void> {
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

  /** Returns the state of the windows, or the denial by the request's own limit. */
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

function rateLimitError(decision: RateLimitDecision, authentication: AuthenticationResult): ApiError {
  const { ban, denialsUntilBan, windows, nowMs } = decision;
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
  const { principal, denial } = authentication;
  if (principal === null) {
    const allowance = `an address may send ${limits} without a valid API key`;
    return new ApiError('rate_limit_exceeded', `${exceededMessage(allowance, decision)} ${denial.message}`);
  }
  // Limits of operations have one window, those of plans have two.
  const limited = windows.length > 1 ? `plan ${principal.quota.plan}` : 'this operation';
  const warning =
    denialsUntilBan === null
      ? ''
      : ` ${inWords(denialsUntilBan, 'denial')} ${denialsUntilBan === 1 ? 'remains' : 'remain'} ` +
        'within this minute until the API key is banned.';
  return new ApiError(
    'rate_limit_exceeded',
    exceededMessage(`${limited} allows ${limits}`, decision) + warning,
  );
}
