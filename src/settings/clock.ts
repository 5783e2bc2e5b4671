/** The source of the time, which tests replace. */
export class Clock {
  /** This process's time, in milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }

  /** The monotonic clock of this process, in milliseconds, which nobody sets. */
  monotonicMs(): number {
    return performance.now();
  }
}

/**
 * The time of a database or a counter store, from its last response and the monotonic clock of this process;
 * before the first response, the time of this process.
 */
export class ServerClock {
  private aheadOfMonotonicMs: number;
  private lastClockMs = Number.NaN;

  constructor(private readonly clock: Clock) {
    this.aheadOfMonotonicMs = clock.now() - clock.monotonicMs();
  }

  /** @param clockMs the store's time in its response, in milliseconds since the Unix epoch. */
  observe(clockMs: number): void {
    // All decisions of a batch have the same time. The first is observed the soonest, and so is the most
    // exact.
    if (clockMs !== this.lastClockMs) {
      this.lastClockMs = clockMs;
      this.aheadOfMonotonicMs = clockMs - this.clock.monotonicMs();
    }
  }

  /** In milliseconds since the Unix epoch. */
  now(): number {
    return this.clock.monotonicMs() + this.aheadOfMonotonicMs;
  }
}
