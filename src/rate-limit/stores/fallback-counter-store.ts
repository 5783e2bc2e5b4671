import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, ServerClock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { PeriodicTask } from '../../database/periodic-task.js';
import { Breaker, type BreakerState } from '../rules/breaker.js';
import {
  CounterStore,
  CounterStoreError,
  PartialReconcileError,
  type UnreportedUsage,
} from './counter-store.js';
import { LocalCounterStore } from './local-counter-store.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { UnreportedUsageLog } from './unreported-usage-log.js';
import { isFarAhead, msToStart } from '../rules/windows.js';

/** Dependency-injection token of the `CounterStore` that all replicas share. */
export const SHARED_COUNTER_STORE = Symbol('shared counter store');

/** Since when the shared store has not responded, and its last error. */
export interface Outage {
  since: Date;
  reason: string;
}

const PROBE_INTERVAL_MS = 1000;
/** At most one log line in this time is of windows that are ahead. */
const AHEAD_LOG_INTERVAL_MS = 60_000;
/** Buckets in one report: few enough for the deadline of the store. */
const REPORT_SIZE = 1000;
const MAX_UNREPORTED_BUCKETS = 50_000;

/**
 * Counts in the shared store; while that is away, in this replica, from the last counts known. Then no request waits for the
 * store: a probe checks every second whether it is back, and reports what was allowed meanwhile.
 *
 * A request whose own query fails is decided here too. If it was surely not counted, it is reported before this replica's next
 * query; if the outcome is unknown, never, so that nothing counts twice.
 */
@Injectable()
export class FallbackCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly logger = new Logger(FallbackCounterStore.name);
  private readonly breaker = new Breaker();
  private readonly time: ServerClock;
  private readonly local: LocalCounterStore;
  /** Null while nothing is unreported, nor being reported. */
  private unreported: UnreportedUsageLog | null = null;
  private reporting: Promise<void> | null = null;
  /** Requests that this replica decided by itself. */
  decidedLocally = 0;
  /** The first and the last failure since the store last responded; null if there was none. */
  private failing: { since: Date; error: CounterStoreError } | null = null;
  /** The queries whose failure is recorded: each of their requests fails with an error of its own. */
  private readonly failedQueries = new WeakSet<object>();
  private prober: PeriodicTask | null = null;
  /** When a window that is ahead was last logged, by this process's clock. */
  private aheadLoggedMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(SHARED_COUNTER_STORE) private readonly shared: CounterStore,
    @Inject(ENVIRONMENT) environment: Pick<Environment, 'BAN_DURATIONS'>,
    private readonly clock: Clock,
  ) {
    super();
    this.time = new ServerClock(clock);
    this.local = new LocalCounterStore(() => this.time.now(), environment.BAN_DURATIONS);
  }

  onApplicationShutdown(): void {
    void this.prober?.stop();
  }

  /** `open` while the shared store is away, `half-open` until it is certain that it counts again. */
  get breakerState(): BreakerState {
    return this.breaker.state;
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

  reconcile(taken: UnreportedUsage[]): Promise<void> {
    return this.shared.reconcile(taken);
  }

  /** Returns null when the store responds, which is checked unless it is known to be away. Never rejects. */
  async outage(): Promise<Outage | null> {
    if (this.breaker.state !== 'open') {
      try {
        await this.shared.reconcile([]);
        return null;
      } catch (error) {
        this.fail(error);
      }
    }
    return this.failing && { since: this.failing.since, reason: this.failing.error.message };
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
      while (this.unreported !== null && this.breaker.state !== 'open') {
        await this.report(this.unreported);
      }
      if (this.breaker.state === 'open') {
        return this.decideLocally(kind, request, true);
      }
      isSent = true;
      return await this.shared[kind](request);
    } catch (error) {
      if (error instanceof CounterStoreError && error.kind === 'conflict') {
        throw error;
      }
      this.fail(error);
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
        this.unreported ??= new UnreportedUsageLog(MAX_UNREPORTED_BUCKETS);
        this.unreported.add(request, decision);
      }
    }
    return decision;
  }

  private learn(request: RateLimitRequest, decision: RateLimitDecision): void {
    // While open the response is to a query that was sent before.
    if (this.failing !== null && this.breaker.state !== 'open') {
      this.failing = null;
      if (this.breaker.succeeded()) {
        this.logger.warn('The counter store is back, and has been told what this replica allowed meanwhile');
      }
    }
    this.time.observe(decision.clockMs);
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

  /**
   * Reports to the shared store what was allowed without it, one report at a time.
   *
   * @throws CounterStoreError when the store is still away.
   */
  private report(log: UnreportedUsageLog): Promise<void> {
    this.reporting ??= this.reportAll(log).finally(() => {
      this.reporting = null;
      if (log.size === 0) {
        this.unreported = null;
      }
    });
    return this.reporting;
  }

  private async reportAll(log: UnreportedUsageLog): Promise<void> {
    // What is allowed meanwhile, and what is left at the end, goes before the next query.
    for (let isMore = log.size > 0; isMore; isMore = log.size >= REPORT_SIZE) {
      const taken = log.take(REPORT_SIZE);
      try {
        await this.shared.reconcile(taken);
      } catch (error) {
        log.restore(notReconciled(taken, error));
        this.fail(error);
        throw error;
      }
    }
  }

  /** Records the failure of a query that says that the store is away, once for all its requests. */
  private fail(failure: unknown): void {
    const error = failure instanceof CounterStoreError ? failure : defect(failure);
    const { kind, message, query } = error;
    if (['notSent', 'wrongType', 'conflict'].includes(kind) || this.failedQueries.has(query)) {
      return;
    }
    this.failedQueries.add(query);
    this.failing = { since: this.failing?.since ?? new Date(this.clock.now()), error };
    if (this.breaker.failed(kind === 'noConnection')) {
      this.logger.warn(`The counter store is away, so this replica counts by itself: ${message}`);
    } else if (this.breaker.state !== 'open') {
      this.logger.debug(`A query to the counter store failed: ${message}`);
    }
    if (this.breaker.state === 'open' && this.prober === null) {
      this.prober = new PeriodicTask(
        PROBE_INTERVAL_MS,
        () => this.probe(),
        (reason) => this.fail(reason),
      );
      this.prober.start();
    }
  }

  /**
   * Checks whether the store responds again, and if so reports to it. Whether it counts too is left to the next requests: a store
   * that is out of memory or read-only, or has a locked row, responds and does not count.
   *
   * @throws CounterStoreError when it does not respond.
   */
  private async probe(): Promise<boolean> {
    // Nothing at first: a report whose outcome is unknown is never sent again.
    await this.shared.reconcile([]);
    if (this.unreported !== null) {
      await this.report(this.unreported);
    }
    void this.prober?.stop();
    this.prober = null;
    this.breaker.halfOpen();
    return false;
  }

  private throwWhileAway(): void {
    if (this.breaker.state === 'open') {
      throw this.failing?.error;
    }
  }
}

/** A fault in the code of the store leaves open what was counted. */
function defect(fault: unknown): CounterStoreError {
  const error = new CounterStoreError('outcomeUnknown', fault);
  error.query = Object(fault);
  return error;
}

function wasNotCounted(error: unknown): boolean {
  return error instanceof CounterStoreError && error.kind !== 'outcomeUnknown';
}

/** Returns what the store has surely not added of a report that failed. */
function notReconciled(taken: readonly UnreportedUsage[], error: unknown): readonly UnreportedUsage[] {
  if (error instanceof PartialReconcileError) {
    return error.notReconciled;
  }
  return wasNotCounted(error) ? taken : [];
}
