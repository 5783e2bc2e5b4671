import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, ServerClock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { CounterStore, CounterStoreError, type UnreportedUsage, wasNotCounted } from './counter-store.js';
import { LocalCounterStore } from './local-counter-store.js';
import { type BreakerState, type Outage, OutageMonitor } from './outage-monitor.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { UsageReporter } from './usage-reporter.js';
import { isFarAhead, msToStart } from '../rules/windows.js';

/** Dependency-injection token of the `CounterStore` that all replicas share. */
export const SHARED_COUNTER_STORE = Symbol('shared counter store');

/** At most one log line in this time is of windows that are ahead. */
const AHEAD_LOG_INTERVAL_MS = 60_000;

/**
 * Counts in the shared store; while that is away, in this replica, from the last counts known. Then no request waits for the
 * store. Once it responds again, what was allowed meanwhile is reported to it before the next query.
 *
 * A request whose own query fails is decided here too. If it was surely not counted, it is reported; if the outcome is unknown,
 * never, so that nothing counts twice.
 */
@Injectable()
export class FallbackCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly logger = new Logger(FallbackCounterStore.name);
  private readonly serverClock: ServerClock;
  private readonly monitor: OutageMonitor;
  private readonly local: LocalCounterStore;
  private readonly reporter: UsageReporter;
  /** Requests that this replica decided by itself. */
  decidedLocally = 0;
  /** When a window that is ahead was last logged, by this process's clock. */
  private aheadLoggedMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(SHARED_COUNTER_STORE) private readonly shared: CounterStore,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'BAN_DURATIONS'>,
    private readonly clock: Clock,
  ) {
    super();
    this.serverClock = new ServerClock(clock);
    this.monitor = new OutageMonitor(this.logger, clock, () => this.probe());
    this.local = new LocalCounterStore(() => this.serverClock.now(), environment.BAN_DURATIONS);
    this.reporter = new UsageReporter(shared);
  }

  onApplicationShutdown(): void {
    this.monitor.stop();
  }

  /** `open` while the shared store is away, `half-open` until it is certain that it counts again. */
  get breakerState(): BreakerState {
    return this.monitor.breakerState;
  }

  /**
   * Never rejects because the store is away.
   *
   * @throws CounterStoreError when the counts changed under every try.
   */
  async consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    const decision = await this.query('consume', request);
    if (!decision.degraded) {
      this.learn(request, decision);
    }
    return decision;
  }

  /** Whether a request would be allowed, by what this replica last knew. */
  mayAllow(request: RateLimitRequest): boolean {
    return this.local.peek(request).allowed;
  }

  /** Returns what this replica last knew, for the response to a request that is not counted, and so not denied either. */
  lastKnown(request: RateLimitRequest): RateLimitDecision {
    return { ...this.local.peek(request), degraded: true, allowed: true };
  }

  /**
   * Never rejects because the store is away.
   *
   * @throws CounterStoreError when the counts changed under every try.
   */
  peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.query('peek', request);
  }

  reconcile(usage: UnreportedUsage[]): Promise<void> {
    return this.shared.reconcile(usage);
  }

  /** Returns null when the store responds, which is checked unless it is known to be away. Never rejects. */
  async outage(): Promise<Outage | null> {
    if (this.breakerState !== 'open') {
      try {
        await this.shared.reconcile([]);
        return null;
      } catch (error) {
        this.monitor.failed(error);
      }
    }
    return this.monitor.outage;
  }

  async bans(): Promise<Map<string, Date>> {
    this.throwWhileAway();
    return this.shared.bans();
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    this.throwWhileAway();
    const until = await this.shared.liftBan(bucketKey);
    this.local.liftBan(bucketKey);
    return until;
  }

  /**
   * Queries the shared store, once all is reported; while it is away, or where that fails, decides locally.
   *
   * @throws CounterStoreError for a conflict: the store is there, and others count in it at this moment.
   */
  private async query(kind: 'consume' | 'peek', request: RateLimitRequest): Promise<RateLimitDecision> {
    let isSent = false;
    try {
      while (!this.reporter.isDone && this.breakerState !== 'open') {
        await this.reporter.report();
      }
      if (this.breakerState === 'open') {
        return this.decideLocally(kind, request, true);
      }
      isSent = true;
      return await this.shared[kind](request);
    } catch (error) {
      if (error instanceof CounterStoreError && error.kind === 'conflict') {
        throw error;
      }
      this.monitor.failed(error);
      return this.decideLocally(kind, request, !isSent || wasNotCounted(error));
    }
  }

  /** @param isUncounted whether the shared store has surely not counted the request. */
  private decideLocally(
    kind: 'consume' | 'peek',
    request: RateLimitRequest,
    isUncounted: boolean,
  ): RateLimitDecision {
    const decision = { ...this.local[kind](request), degraded: true };
    if (kind === 'consume') {
      this.decidedLocally += 1;
      if (isUncounted && decision.allowed) {
        this.reporter.add(request, decision);
      }
    }
    return decision;
  }

  private learn(request: RateLimitRequest, decision: RateLimitDecision): void {
    if (this.monitor.outage !== null) {
      this.monitor.succeeded();
    }
    this.serverClock.observe(decision.clockMs);
    this.local.learn(request, decision);
    if (decision.nowMs > decision.clockMs) {
      this.warnOfWindowAhead(request, decision);
    }
    if (decision.ban?.started === true) {
      this.logger.warn(
        `${request.bucketKey} is banned until ${new Date(decision.ban.untilMs).toISOString()}`,
      );
    }
  }

  /** Warns of a window that was opened while the store's clock was ahead: it lasts until an operator repairs it. */
  private warnOfWindowAhead({ bucketKey }: RateLimitRequest, { windows, clockMs }: RateLimitDecision): void {
    const ahead = windows.find((window) => isFarAhead(window, clockMs));
    // The distance either way, as a clock may be set back.
    if (ahead === undefined || Math.abs(this.clock.now() - this.aheadLoggedMs) < AHEAD_LOG_INTERVAL_MS) {
      return;
    }
    this.aheadLoggedMs = this.clock.now();
    const aheadSeconds = Math.round(msToStart(ahead, clockMs) / 1000);
    this.logger.warn(
      `The ${ahead.name} window of ${bucketKey} begins ${aheadSeconds} s after the current time of the counter store, ` +
        'and stays in force until its end: see "After a clock was ahead" in docs/operating.md',
    );
  }

  /** @throws CounterStoreError while the store does not respond. */
  private async probe(): Promise<void> {
    // Nothing at first: a report whose outcome is unknown is never sent again.
    await this.shared.reconcile([]);
    await this.reporter.report();
  }

  private throwWhileAway(): void {
    if (this.breakerState === 'open') {
      throw this.monitor.outage?.error;
    }
  }
}
