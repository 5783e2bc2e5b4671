/** The source of the time, which tests replace. */
export class Clock {
  /** Milliseconds to add to the counter store's clock, which all windows use. */
  readonly storeOffsetMs: number = 0;

  /** This process's time, in milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }
}

/** The time of a database or a counter store, from its last response and this process's monotonic clock; this process's time before the first response. */
export class ServerClock {
  private aheadOfMonotonicMs: number;
  private lastClockMs = Number.NaN;

  constructor(private readonly clock: Pick<Clock, 'now' | 'storeOffsetMs'>) {
    this.aheadOfMonotonicMs = clock.now() - clock.storeOffsetMs - performance.now();
  }

  /** @param clockMs the store's time in its response, in milliseconds since the Unix epoch. */
  observe(clockMs: number): void {
    // All decisions of a batch have the same time. The first is observed the soonest, and so is the most exact.
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
