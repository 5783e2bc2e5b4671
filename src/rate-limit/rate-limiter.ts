import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuthenticationResult, Principal } from '../principal.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { networkOf } from './address.js';
import type { RateLimitDecision } from './rate-limit-decision.js';
import { banEndSeconds, secondsToBanEnd } from './ban.js';
import type { RateLimitRequest } from './counter-store.js';
import { Decisions } from './decisions.js';
import { FallbackCounterStore } from './fallback-counter-store.js';
import { statusBucketKey, addressBucketKey, quotaBucketKey } from './bucket-key.js';
import { retryAfterSeconds } from './windows.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `RateLimiter` decided on the request; null where it was not counted. */
    decision: RateLimitDecision | null;
    /** Of a read that its handler serves while it is counted: the error that denies it, else null. Never rejects. */
    denial: Promise<unknown> | null;
  }
}

/** Stands for the plan of who has none; no plan can have this name. */
export const ANONYMOUS = '(stranger)';

@Injectable()
export class RateLimiter {
  readonly decisions = new Decisions();

  constructor(
    private readonly store: FallbackCounterStore,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /**
   * Counts the request against its client's quota, else its address; by itself while the store is away. Keeps the decision
   * on the request.
   *
   * @throws ApiError `rate_limit_exceeded` or `api_key_banned`; CounterStoreError when the counts changed under every try.
   */
  async authorize(request: FastifyRequest, caller: AuthenticationResult): Promise<void> {
    const { inquiriesPerMinute } = request.routeOptions.config;
    const { principal: client } = caller;
    const ask = this.rateLimitRequestOf(request, client);
    request.decision =
      inquiriesPerMinute === undefined || client === null
        ? await this.decide(ask, client)
        : await this.inquire(ask, client, inquiriesPerMinute);
    if (!request.decision.allowed) {
      throw rateLimitError(request.decision, caller);
    }
  }

  /**
   * Starts to count a read, which its handler may serve meanwhile: its response waits for `request.denial`. So a client that is denied
   * costs a read, once: from then on its bucket is known to be empty or banned, and the read waits.
   *
   * @throws ApiError, CounterStoreError as `authorize`, where it waits.
   */
  async authorizeRead(request: FastifyRequest, caller: AuthenticationResult): Promise<void> {
    const decision = this.authorize(request, caller);
    if (this.mayOverlap(request, caller)) {
      request.denial = decision.then(
        () => null,
        (error: unknown) => error,
      );
    } else {
      await decision;
    }
  }

  /** Returns what this replica last knew of the client's quota, else of the address: for a request that is not counted. */
  lastKnown(request: FastifyRequest): RateLimitDecision {
    return this.store.lastKnown(this.rateLimitRequestOf(request, request.lastKnownPrincipal));
  }

  /** Returns what the request will count against, as far as is known before it is authenticated. */
  bucketKey(request: FastifyRequest): string {
    return this.rateLimitRequestOf(request, request.lastKnownPrincipal).subject;
  }

  /** A handler that responds with the decision itself needs it first. */
  private mayOverlap(
    { routeOptions, ip }: FastifyRequest,
    { principal: client }: AuthenticationResult,
  ): boolean {
    if (client === null || routeOptions.config.inquiriesPerMinute !== undefined) {
      return false;
    }
    const { windows, ban } = this.store.lastKnown(this.rateLimitRequestOf({ ip }, client));
    return ban === null && windows.every(({ remaining }) => remaining > 0);
  }

  private async decide(ask: RateLimitRequest, client: Principal | null): Promise<RateLimitDecision> {
    const decision = await this.store.consume(ask);
    this.decisions.add(client?.quota.plan ?? ANONYMOUS, decision);
    return decision;
  }

  /** Where the quota stands, if it has not asked too often within this minute. */
  private async inquire(
    ask: RateLimitRequest,
    { quota }: Principal,
    perMinute: number,
  ): Promise<RateLimitDecision> {
    const inquiry = await this.store.consume({ subject: statusBucketKey(quota.id), perMinute, perDay: null });
    if (!inquiry.allowed) {
      this.decisions.addRefusedInquiry(quota.plan);
      return inquiry;
    }
    // Who has waited for a store that did not answer does not wait for it again.
    return inquiry.degraded ? this.store.lastKnown(ask) : { ...(await this.store.peek(ask)), allowed: true };
  }

  private rateLimitRequestOf(
    request: Pick<FastifyRequest, 'ip'>,
    client: Principal | null,
  ): RateLimitRequest {
    return client === null
      ? {
          subject: addressBucketKey(networkOf(request.ip)),
          perMinute: this.environment.STRANGER_LIMIT,
          perDay: null,
        }
      : {
          subject: quotaBucketKey(client.quota.id),
          perMinute: client.quota.perMinute,
          perDay: client.quota.perDay,
        };
  }
}

/** The error of a request that was not allowed: `api_key_banned` while a ban lasts, else `rate_limit_exceeded`. */
function rateLimitError(decision: RateLimitDecision, caller: AuthenticationResult): ApiError {
  const { ban, windows, nowMs } = decision;
  if (ban !== null) {
    const until = new Date(banEndSeconds(ban) * 1000).toISOString().replace('.000Z', 'Z');
    const message =
      `This API key is banned until ${until}, because too many requests followed a 429 within one minute. ` +
      `Send none for ${inWords(secondsToBanEnd(ban, nowMs), 'second')}. ` +
      'After any later 429 wait as Retry-After tells, or the key is banned again.';
    return new ApiError('api_key_banned', message);
  }
  const full = windows.filter(({ remaining }) => remaining === 0);
  const limits = full.map(({ name, limit }) => `${limit} requests per ${name}`).join(' and ');
  const wait = `Wait ${inWords(retryAfterSeconds(windows, nowMs), 'second')} before the next request.`;
  const message =
    caller.principal === null
      ? `This address is over ${limits} without a valid API key. ${wait} ${caller.refusal.message}`
      : `Over the limit of ${limits} of ${limitedBy(decision, caller.principal)}. ${wait}${warning(decision)}`;
  return new ApiError('rate_limit_exceeded', message);
}

/** What has the limits: the plan; or, of fewer windows, the operation that tells where a quota stands. */
function limitedBy({ windows }: RateLimitDecision, { quota }: Principal): string {
  return windows.length > 1 ? `plan ${quota.plan}` : 'this operation';
}

/** What goes on happening to a client that does not wait; nothing where bans are off. */
function warning({ refusalsUntilBan }: RateLimitDecision): string {
  if (refusalsUntilBan === null) {
    return '';
  }
  const remain = `${inWords(refusalsUntilBan, 'refusal')} ${refusalsUntilBan === 1 ? 'remains' : 'remain'}`;
  return ` ${remain} within this minute until the API key is banned.`;
}

function inWords(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
