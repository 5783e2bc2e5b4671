/** Time as this service is given it, so that a test can travel in it. */
export class Clock {
  /** Milliseconds to add to the counter store's own clock, the one clock of all windows. */
  readonly storeOffsetMs: number = 0;

  /** This process's time, in milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }
}

/**
 * The counter store's time while the store is away: the last time that it returned, and what this process's monotonic clock
 * has measured since. Until then it is this process's own time.
 */
export class ServerClock {
  private aheadOfMonotonicMs: number;
  private lastClockMs = Number.NaN;

  constructor(private readonly clock: Pick<Clock, 'now' | 'storeOffsetMs'>) {
    this.aheadOfMonotonicMs = clock.now() - clock.storeOffsetMs - performance.now();
  }

  /** @param clockMs what the store's clock showed, as its response has it, in milliseconds since the Unix epoch. */
  observe(clockMs: number): void {
    // All decisions of one batch have the same time, of which the first is the most exact.
    if (clockMs !== this.lastClockMs) {
      this.lastClockMs = clockMs;
      this.aheadOfMonotonicMs = clockMs - this.clock.storeOffsetMs - performance.now();
    }
  }

  /** In milliseconds since the Unix epoch. */
  now(): number {
    return performance.now() + this.aheadOfMonotonicMs + this.clock.storeOffsetMs;
  }
}
