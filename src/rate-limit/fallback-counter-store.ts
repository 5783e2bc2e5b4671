import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import type { RateLimitDecision } from './rate-limit-decision.js';
import { Breaker, type BreakerState } from './breaker.js';
import {
  type RateLimitRequest,
  CounterStore,
  CounterStoreError,
  PartialReconcileError,
  type UnreportedUsage,
} from './counter-store.js';
import { LocalCounterStore } from './local-counter-store.js';
import { ServerClock } from './server-clock.js';
import { UnreportedUsageLog } from './unreported-usage-log.js';
import { isFarAhead, msToStart } from './windows.js';

/** Dependency-injection token of the `CounterStore` that all replicas share. */
export const SHARED_COUNTER_STORE = Symbol('shared counter store');

/** That the shared store does not answer: since when, and what it said last. */
export interface Outage {
  since: Date;
  reason: string;
}

const PROBE_INTERVAL_MS = 1000;
/** At the most one line in the log of windows that are ahead. */
const AHEAD_LOG_INTERVAL_MS = 60_000;
/** Subjects that the store is told of at once: few enough to be well within its deadline. */
const ADDED_AT_ONCE = 1000;
const MAX_TAKEN_SUBJECTS = 50_000;

/**
 * Counts in the shared store; and, while that is away, in this replica, from the last counts known. Then nobody waits for
 * the store: it is asked beside the way, every second, whether it is back, and told what was allowed meanwhile.
 *
 * A request whose own question is not answered is decided here too. If it was surely not counted, it is told to
 * the store before this replica's next question; if nobody knows, never, so that nothing counts twice.
 */
@Injectable()
export class FallbackCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly logger = new Logger(FallbackCounterStore.name);
  private readonly breaker = new Breaker();
  private readonly time: ServerClock;
  private readonly local: LocalCounterStore;
  private readonly unreported = new UnreportedUsageLog(MAX_TAKEN_SUBJECTS);
  /** Requests that this replica decided by itself. */
  decidedLocally = 0;
  /** The last. */
  private failure: CounterStoreError | null = null;
  /** Of the first failure since the store answered last, by this process's clock. */
  private failingSinceMs: number | null = null;
  /** The questions whose failure is known: each of their requests is told of it. */
  private readonly failedQueries = new WeakSet<object>();
  private reporting: Promise<void> | null = null;
  private prober: NodeJS.Timeout | undefined;
  private isProbing = false;
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
    clearInterval(this.prober);
  }

  /** Whether the shared store is asked; `half-open` while nobody knows yet whether it counts again. */
  get breakerState(): BreakerState {
    return this.breaker.state;
  }

  /**
   * Never rejects because the store is away.
   *
   * @throws CounterStoreError when the counts changed under every try.
   */
  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    if (this.breaker.isOpen) {
      return Promise.resolve(this.decideLocally(request, true));
    }
    if (this.unreported.size > 0 || this.reporting !== null) {
      return this.report().then(
        () => this.consume(request),
        (error: unknown) => {
          throwConflict(error);
          // This request was not asked for, whatever became of what was told before it.
          return this.decideLocally(request, true);
        },
      );
    }
    return this.shared.consume(request).then(
      (decision) => {
        if (this.breaker.succeeded()) {
          this.logger.warn(
            'The counter store is back, and has been told what this replica allowed meanwhile',
          );
        }
        this.failingSinceMs = null;
        this.time.observe(decision.clockMs);
        this.local.learn(request, decision);
        this.logWindowAhead(request, decision);
        if (decision.ban?.started === true) {
          const end = new Date(decision.ban.untilMs).toISOString();
          this.logger.warn(`${request.bucketKey} is banned until ${end}`);
        }
        return decision;
      },
      (error: unknown) => {
        throwConflict(error);
        this.fail(error);
        return this.decideLocally(request, wasNotCounted(error));
      },
    );
  }

  /** Whether a request would be allowed, by what this replica last knew. */
  mayAllow(request: RateLimitRequest): boolean {
    return this.local.peekNow(request).allowed;
  }

  /** What is known here of a bucket, for a response to a request that is not counted, and so not refused either. */
  lastKnown(request: RateLimitRequest): RateLimitDecision {
    return { ...this.peekLocally(request), allowed: true };
  }

  /**
   * Never rejects because the store is away.
   *
   * @throws CounterStoreError when the counts changed under every try.
   */
  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    if (this.breaker.isOpen) {
      return this.peekLocally(request);
    }
    try {
      if (this.unreported.size > 0 || this.reporting !== null) {
        await this.report();
      }
      return await this.shared.peek(request);
    } catch (error) {
      throwConflict(error);
      this.fail(error);
      return this.peekLocally(request);
    }
  }

  reconcile(taken: UnreportedUsage[]): Promise<void> {
    return this.shared.reconcile(taken);
  }

  /** Asks the store for a sign of life, unless it is known to be away. Null when it gives one. Never rejects. */
  async outage(): Promise<Outage | null> {
    if (!this.breaker.isOpen) {
      try {
        await this.shared.reconcile([]);
        return null;
      } catch (error) {
        this.fail(error);
      }
    }
    return {
      since: new Date(this.failingSinceMs ?? this.clock.now()),
      reason: this.failure?.message ?? 'there was no answer',
    };
  }

  async bans(): Promise<Map<string, Date>> {
    this.refuseWhileAway();
    return this.shared.bans();
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    this.refuseWhileAway();
    const until = await this.shared.liftBan(bucketKey);
    await this.local.liftBan(bucketKey);
    return until;
  }

  /** Warns of a window that was opened while the store's clock was ahead: it lasts until somebody repairs it. */
  private logWindowAhead({ bucketKey }: RateLimitRequest, { windows, clockMs }: RateLimitDecision): void {
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

  private peekLocally(request: RateLimitRequest): RateLimitDecision {
    return { ...this.local.peekNow(request), degraded: true };
  }

  /** Decides by what is known here. */
  private decideLocally(request: RateLimitRequest, isToBeAdded: boolean): RateLimitDecision {
    this.decidedLocally += 1;
    const decision = { ...this.local.consumeNow(request), degraded: true };
    if (isToBeAdded && decision.allowed) {
      this.unreported.add(request, decision);
    }
    return decision;
  }

  /**
   * Tells the store what was allowed without it, one telling at a time.
   *
   * @throws CounterStoreError when the store is still away, which is counted as a failure.
   */
  private report(): Promise<void> {
    this.reporting ??= this.reportAll().finally(() => {
      this.reporting = null;
    });
    return this.reporting;
  }

  private async reportAll(): Promise<void> {
    // What is allowed meanwhile, and what is left at the end, goes before the next question.
    for (let isMore = this.unreported.size > 0; isMore; isMore = this.unreported.size >= ADDED_AT_ONCE) {
      const taken = this.unreported.takeOut(ADDED_AT_ONCE);
      try {
        await this.shared.reconcile(taken);
      } catch (error) {
        this.unreported.takeBack(notAdded(taken, error));
        this.fail(error);
        throw error;
      }
    }
  }

  private fail(error: unknown): void {
    const failure = error instanceof CounterStoreError ? error : defect(error);
    const { kind, message, query: question } = failure;
    if (
      kind === 'notSent' ||
      kind === 'wrongType' ||
      kind === 'conflict' ||
      this.failedQueries.has(question)
    ) {
      return;
    }
    this.failedQueries.add(question);
    this.failure = failure;
    this.failingSinceMs ??= this.clock.now();
    if (this.breaker.failed(kind === 'noConnection')) {
      this.logger.warn(`The counter store is away, so this replica counts by itself: ${message}`);
    } else if (!this.breaker.isOpen) {
      this.logger.debug(`A question to the counter store was not answered: ${message}`);
    }
    if (this.breaker.isOpen) {
      this.prober ??= setInterval(() => void this.probe(), PROBE_INTERVAL_MS).unref();
    }
  }

  /**
   * Asks whether the store answers again, and if so tells it what it missed. Whether it counts too is left to requests to find
   * out: one that is out of memory, or may only be read, or has a row that somebody holds, answers and does not count. Never
   * rejects.
   */
  private async probe(): Promise<void> {
    if (this.isProbing) {
      return;
    }
    this.isProbing = true;
    try {
      // With nothing at stake first: what is told to a store that does not answer is never told again.
      await this.shared.reconcile([]);
      await this.report();
      clearInterval(this.prober);
      this.prober = undefined;
      this.breaker.halfOpen();
    } catch (error) {
      this.fail(error);
    } finally {
      this.isProbing = false;
    }
  }

  private refuseWhileAway(): void {
    if (this.breaker.isOpen) {
      throw this.failure;
    }
  }
}

/** @throws the error of a store that is there, but that this replica must not count in place of: others count in it at this moment. */
function throwConflict(error: unknown): void {
  if (error instanceof CounterStoreError && error.kind === 'conflict') {
    throw error;
  }
}

/** A fault of the store's own code leaves open what was counted. */
function defect(fault: unknown): CounterStoreError {
  const error = new CounterStoreError('outcomeUnknown', fault);
  error.query = Object(fault);
  return error;
}

function wasNotCounted(error: unknown): boolean {
  return error instanceof CounterStoreError && error.kind !== 'outcomeUnknown';
}

/** Those of what the store should have added that it surely has not. */
function notAdded(taken: readonly UnreportedUsage[], error: unknown): readonly UnreportedUsage[] {
  if (error instanceof PartialReconcileError) {
    return error.notReconciled;
  }
  return wasNotCounted(error) ? taken : [];
}
