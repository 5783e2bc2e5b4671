import type { Clock } from '../clock.js';

/**
 * The store's time while the store cannot be asked: the last that it told, and what this process's monotonic clock has
 * measured since. A process that never heard of it takes its own time.
 */
export class ServerClock {
  private aheadOfMonotonicMs: number;
  private lastHeardMs = Number.NaN;

  constructor(private readonly clock: Pick<Clock, 'now' | 'storeOffsetMs'>) {
    this.aheadOfMonotonicMs = clock.now() - clock.storeOffsetMs - performance.now();
  }

  /** @param clockMs what the store's clock showed, as its answer has just told it, in milliseconds since the Unix epoch. */
  observe(clockMs: number): void {
    // All answers of one question tell the same.
    if (clockMs !== this.lastHeardMs) {
      this.lastHeardMs = clockMs;
      this.aheadOfMonotonicMs = clockMs - this.clock.storeOffsetMs - performance.now();
    }
  }

  /** In milliseconds since the Unix epoch. */
  now(): number {
    return performance.now() + this.aheadOfMonotonicMs + this.clock.storeOffsetMs;
  }
}
