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
 * The time of a database or a counter store, from its responses and the monotonic clock of this process;
 * before the first response, the time of this process.
 */
export class ServerClock {
  private aheadOfMonotonicMs: number;

  constructor(private readonly clock: Clock) {
    this.aheadOfMonotonicMs = clock.now() - clock.monotonicMs();
  }

  /**
   * Corrects the time by as much as a response shows it to be wrong: the store read its clock between query
   * and response, and either may have waited for seconds, as in a process that was suspended (F. Cristian,
   * "Probabilistic clock synchronization", 1989).
   *
   * @param clockMs the store's time in its response, in milliseconds since the Unix epoch.
   * @param sentMs when the query was sent or before, by the monotonic clock of this process.
   */
  observe(clockMs: number, sentMs: number): void {
    const least = clockMs - this.clock.monotonicMs();
    const most = clockMs - sentMs;
    this.aheadOfMonotonicMs = Math.min(most, Math.max(least, this.aheadOfMonotonicMs));
  }

  /** In milliseconds since the Unix epoch. */
  now(): number {
    return this.clock.monotonicMs() + this.aheadOfMonotonicMs;
  }
}
