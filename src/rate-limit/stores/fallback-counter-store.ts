import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { UnavailableError } from '../../database/access/unavailable-error.js';
import type { MetricsRegistry, MetricsSource } from '../../process/metrics-registry.js';
import { Clock, ServerClock } from '../../process/clock.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { COUNTER_STORE, CounterStore } from './counter-store.js';
import { LocalCounterStore } from './local-counter-store.js';

/** Queries without a reply, in a row, after which the shared store is unavailable. */
const MAX_SILENT_QUERIES = 3;
const PING_INTERVAL_MS = 500;

/**
 * Counts in the shared store; while that is unavailable, in this replica, from the last counts known.
 *
 * The store is unavailable once it refuses a connection or to count, or leaves three queries in a row without
 * a reply though this process was not late. Before that, a query that fails rejects its requests: load alone
 * never loosens a limit. From then on no request waits for the store, until a ping finds that it can count.
 * What was allowed meanwhile is not reported to it, but counts against the bucket in the next outage.
 */
@Injectable()
export class FallbackCounterStore implements OnApplicationShutdown, MetricsSource {
  private readonly logger = new Logger(FallbackCounterStore.name);
  private readonly serverClock: ServerClock;
  private readonly local: LocalCounterStore;
  outage: { since: Date; error: UnavailableError } | null = null;
  decidedLocally = 0;
  private silentQueries = 0;
  private lastFailure: UnavailableError | null = null;
  private pinger: NodeJS.Timeout | undefined;
  private isPinging = false;

  constructor(
    private readonly shared: CounterStore,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'BAN_DURATIONS'>,
    private readonly clock: Clock,
  ) {
    this.serverClock = new ServerClock(clock);
    this.local = new LocalCounterStore(() => this.serverClock.now(), environment.BAN_DURATIONS);
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.addBatches(this.shared.batches);
    metrics.gauge('rate_limit_degraded', '1 while the counter store is unavailable, else 0.', [], () => [
      [Number(this.outage !== null)],
    ]);
    metrics.counter('rate_limit_degraded_decisions_total', 'Decisions without the counter store.', [], () => [
      [this.decidedLocally],
    ]);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pinger);
  }

  async consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    if (this.outage === null) {
      const sentMs = this.clock.monotonicMs();
      try {
        const decision = await this.shared.consume(request);
        this.learn(request, decision, sentMs);
        return decision;
      } catch (error) {
        this.observe(error);
        if (this.outage === null) {
          throw error;
        }
      }
    }
    this.decidedLocally += 1;
    return { ...this.local.consume(request), degraded: true };
  }

  /**
   * A failed read begins an outage only if the store refused the connection: reads run concurrently, so one
   * slow moment may make several miss the deadline.
   */
  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    if (this.outage === null) {
      try {
        return await this.shared.peek(request);
      } catch (error) {
        if (error instanceof UnavailableError && error.reason === 'refused') {
          this.observe(error);
        }
        // A count may have begun an outage meanwhile.
        if (this.outage === null) {
          throw error;
        }
      }
    }
    return this.lastKnown(request);
  }

  /** Returns the decision that a request would get now by what this replica last knew. */
  lastKnown(request: RateLimitRequest): RateLimitDecision {
    return { ...this.local.peek(request), degraded: true };
  }

  /** Returns when the ban of a bucket ends, by what this replica knew if the store is unavailable. */
  async findBanEnd(bucketKey: string): Promise<Date | null> {
    // A ban does not depend on the limits.
    const { ban } = await this.peek({ bucketKey, perMinute: 1, perDay: 1 });
    return ban && new Date(ban.untilMs);
  }

  ping(): Promise<void> {
    return this.shared.ping();
  }

  async bans(bucketKeys?: readonly string[]): Promise<Map<string, Date>> {
    this.throwWhileAway();
    return this.shared.bans(bucketKeys);
  }

  get warnings() {
    return this.shared.warnings;
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    this.throwWhileAway();
    const until = await this.shared.liftBan(bucketKey);
    if (until !== null) {
      this.local.liftBan(bucketKey);
    }
    return until;
  }

  private observe(error: unknown): void {
    // All requests of a batch fail with the error of their query.
    if (error instanceof UnavailableError && error.store === COUNTER_STORE && error !== this.lastFailure) {
      this.lastFailure = error;
      if (error.reason === 'silent') {
        this.silentQueries += 1;
      } else if (error.reason !== 'notConnected') {
        this.silentQueries = 0;
      }
      if (this.outage === null && (error.reason === 'refused' || this.silentQueries >= MAX_SILENT_QUERIES)) {
        this.startOutage(error);
      }
    }
  }

  private startOutage(error: UnavailableError): void {
    this.logger.warn(`The counter store is unavailable, so this replica counts locally: ${error.message}`);
    this.outage = { since: new Date(this.clock.now()), error };
    // They would wait for one more query, which would fail too.
    this.shared.rejectQueued(error);
    if (error.reason === 'silent') {
      // Replies may be lost on the path of this connection alone.
      this.shared.reconnect();
    }
    this.pinger = setInterval(() => void this.endOutage(), PING_INTERVAL_MS).unref();
  }

  private async endOutage(): Promise<void> {
    if (this.isPinging) {
      return;
    }
    this.isPinging = true;
    try {
      await this.shared.ping();
      clearInterval(this.pinger);
      this.silentQueries = 0;
      this.outage = null;
      this.logger.warn('The counter store is back');
    } catch {
      // Another ping follows.
    } finally {
      this.isPinging = false;
    }
  }

  private throwWhileAway(): void {
    if (this.outage !== null) {
      throw this.outage.error;
    }
  }

  private learn(request: RateLimitRequest, decision: RateLimitDecision, sentMs: number): void {
    this.silentQueries = 0;
    this.serverClock.observe(decision.nowMs, sentMs);
    this.local.learn(request, decision);
    if (decision.ban?.started === true) {
      this.logger.warn(
        `${request.bucketKey} is banned until ${new Date(decision.ban.untilMs).toISOString()}`,
      );
    }
  }
}
