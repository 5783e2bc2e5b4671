import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import type { Admission } from './admission.js';
import { Breaker, type BreakerState } from './breaker.js';
import { type Ask, CounterStore, CounterStoreError, PartlyAddedError, type Taken } from './counter-store.js';
import { LocalCounterStore } from './local-counter-store.js';
import { StoreTime } from './store-time.js';
import { TakenTally } from './taken-tally.js';
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
 * the store: it is asked beside the way, every second, whether it is back, and told what was admitted meanwhile.
 *
 * A request whose own question is not answered is decided here too. If it was surely not counted, it is told to
 * the store before this replica's next question; if nobody knows, never, so that nothing counts twice.
 */
@Injectable()
export class DegradingCounterStore extends CounterStore implements OnApplicationShutdown {
  private readonly logger = new Logger(DegradingCounterStore.name);
  private readonly breaker = new Breaker();
  private readonly time: StoreTime;
  private readonly local: LocalCounterStore;
  private readonly taken = new TakenTally(MAX_TAKEN_SUBJECTS);
  /** Requests that this replica decided by itself. */
  decidedAlone = 0;
  /** The last. */
  private failure: CounterStoreError | null = null;
  /** Of the first failure since the store answered last, by this process's clock. */
  private failingSinceMs: number | null = null;
  /** The questions whose failure is known: each of their asks is told of it. */
  private readonly failedQuestions = new WeakSet<object>();
  private telling: Promise<void> | null = null;
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
    this.time = new StoreTime(clock);
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
  take(ask: Ask): Promise<Admission> {
    if (this.breaker.isOpen) {
      return Promise.resolve(this.decide(ask, true));
    }
    if (this.taken.size > 0 || this.telling !== null) {
      return this.tell().then(
        () => this.take(ask),
        (error: unknown) => {
          throwConflict(error);
          // This request was not asked for, whatever became of what was told before it.
          return this.decide(ask, true);
        },
      );
    }
    return this.shared.take(ask).then(
      (admission) => {
        if (this.breaker.succeeded()) {
          this.logger.warn(
            'The counter store is back, and has been told what this replica admitted meanwhile',
          );
        }
        this.failingSinceMs = null;
        this.time.hear(admission.clockMs);
        this.local.learn(ask, admission);
        this.logWindowAhead(ask, admission);
        if (admission.ban?.started === true) {
          const end = new Date(admission.ban.untilMs).toISOString();
          this.logger.warn(`${ask.subject} is banned until ${end}`);
        }
        return admission;
      },
      (error: unknown) => {
        throwConflict(error);
        this.fail(error);
        return this.decide(ask, wasNotCounted(error));
      },
    );
  }

  /** What is known here of a subject, for a response to a request that is not counted, and so not refused either. */
  lastKnown(ask: Ask): Admission {
    return { ...this.lookHere(ask), admitted: true };
  }

  /**
   * Never rejects because the store is away.
   *
   * @throws CounterStoreError when the counts changed under every try.
   */
  async look(ask: Ask): Promise<Admission> {
    if (this.breaker.isOpen) {
      return this.lookHere(ask);
    }
    try {
      if (this.taken.size > 0 || this.telling !== null) {
        await this.tell();
      }
      return await this.shared.look(ask);
    } catch (error) {
      throwConflict(error);
      this.fail(error);
      return this.lookHere(ask);
    }
  }

  add(taken: Taken[]): Promise<void> {
    return this.shared.add(taken);
  }

  /** Asks the store for a sign of life, unless it is known to be away. Null when it gives one. Never rejects. */
  async outage(): Promise<Outage | null> {
    if (!this.breaker.isOpen) {
      try {
        await this.shared.add([]);
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

  async liftBan(subject: string): Promise<Date | null> {
    this.refuseWhileAway();
    const until = await this.shared.liftBan(subject);
    await this.local.liftBan(subject);
    return until;
  }

  /** Warns of a window that was opened while the store's clock was ahead: it lasts until somebody repairs it. */
  private logWindowAhead({ subject }: Ask, { windows, clockMs }: Admission): void {
    const ahead = windows.find((window) => isFarAhead(window, clockMs));
    // The distance either way, as a clock may be set back.
    if (ahead === undefined || Math.abs(this.clock.now() - this.aheadLoggedMs) < AHEAD_LOG_INTERVAL_MS) {
      return;
    }
    this.aheadLoggedMs = this.clock.now();
    const aheadSeconds = Math.round(msToStart(ahead, clockMs) / 1000);
    this.logger.warn(
      `The ${ahead.name} window of ${subject} begins ${aheadSeconds} s after the current time of the counter store, ` +
        'and stays in force until its end: see "After a clock was ahead" in docs/operating.md',
    );
  }

  private lookHere(ask: Ask): Admission {
    return { ...this.local.lookNow(ask), degraded: true };
  }

  /** Decides by what is known here. */
  private decide(ask: Ask, isToBeAdded: boolean): Admission {
    this.decidedAlone += 1;
    const admission = { ...this.local.takeNow(ask), degraded: true };
    if (isToBeAdded && admission.admitted) {
      this.taken.add(ask, admission);
    }
    return admission;
  }

  /**
   * Tells the store what was admitted without it, one telling at a time.
   *
   * @throws CounterStoreError when the store is still away, which is counted as a failure.
   */
  private tell(): Promise<void> {
    this.telling ??= this.tellTaken().finally(() => {
      this.telling = null;
    });
    return this.telling;
  }

  private async tellTaken(): Promise<void> {
    // What is admitted meanwhile, and what is left at the end, goes before the next question.
    for (let isMore = this.taken.size > 0; isMore; isMore = this.taken.size >= ADDED_AT_ONCE) {
      const taken = this.taken.takeOut(ADDED_AT_ONCE);
      try {
        await this.shared.add(taken);
      } catch (error) {
        this.taken.takeBack(notAdded(taken, error));
        this.fail(error);
        throw error;
      }
    }
  }

  private fail(error: unknown): void {
    const failure = error instanceof CounterStoreError ? error : defect(error);
    const { kind, message, question } = failure;
    if (
      kind === 'withdrawn' ||
      kind === 'spoilt' ||
      kind === 'conflict' ||
      this.failedQuestions.has(question)
    ) {
      return;
    }
    this.failedQuestions.add(question);
    this.failure = failure;
    this.failingSinceMs ??= this.clock.now();
    if (this.breaker.failed(kind === 'refused')) {
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
      await this.shared.add([]);
      await this.tell();
      clearInterval(this.prober);
      this.prober = undefined;
      this.breaker.tryAgain();
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
  const error = new CounterStoreError('unanswered', fault);
  error.question = Object(fault);
  return error;
}

function wasNotCounted(error: unknown): boolean {
  return error instanceof CounterStoreError && error.kind !== 'unanswered';
}

/** Those of what the store should have added that it surely has not. */
function notAdded(taken: readonly Taken[], error: unknown): readonly Taken[] {
  if (error instanceof PartlyAddedError) {
    return error.notAdded;
  }
  return wasNotCounted(error) ? taken : [];
}
