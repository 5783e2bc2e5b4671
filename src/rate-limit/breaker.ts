const FAILURES_IN_A_ROW = 3;

/** Every state of a breaker. */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/**
 * Says when to stop asking somebody who does not answer, and when the outage is over. What it is told are questions, not the
 * requests that wait for them.
 *
 * Open, nothing is asked. Half-open, somebody has found out that asking may be of use again; the next answer tells whether it
 * is, and the next failure that it is not.
 */
export class Breaker {
  private failures = 0;
  private current: BreakerState = 'closed';

  get state(): BreakerState {
    return this.current;
  }

  /** Whether nothing is to be asked. */
  get isOpen(): boolean {
    return this.current === 'open';
  }

  /**
   * A question failed.
   *
   * @param isCertain whether one failure is enough to know, as when there is no connection.
   * @returns whether an outage began by that.
   */
  failed(isCertain: boolean): boolean {
    this.failures += 1;
    const begins = this.current === 'closed' && (isCertain || this.failures >= FAILURES_IN_A_ROW);
    if (begins || this.current === 'half-open') {
      this.current = 'open';
    }
    return begins;
  }

  /** Lets questions be asked again, to see what becomes of them. */
  halfOpen(): void {
    if (this.current === 'open') {
      this.current = 'half-open';
    }
  }

  /**
   * A question was answered. While open that says nothing: it was asked before.
   *
   * @returns whether an outage ended by that.
   */
  succeeded(): boolean {
    this.failures = 0;
    const ends = this.current === 'half-open';
    if (ends) {
      this.current = 'closed';
    }
    return ends;
  }
}
