const FAILURES_IN_A_ROW = 3;

/** Every state of a breaker. */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/**
 * Decides when to stop sending queries to a store that does not respond, and when its outage is over. Open, none is sent.
 * Half-open, the result of the next query closes it or opens it again.
 */
export class Breaker {
  /** Changed by the methods alone. */
  state: BreakerState = 'closed';
  private failures = 0;

  /**
   * Records that a query failed.
   *
   * @param isCertain whether one failure is enough, as when there is no connection.
   * @returns whether an outage began.
   */
  failed(isCertain: boolean): boolean {
    this.failures += 1;
    const begins = this.state === 'closed' && (isCertain || this.failures >= FAILURES_IN_A_ROW);
    if (begins || this.state === 'half-open') {
      this.state = 'open';
    }
    return begins;
  }

  /** Lets queries be sent again, to see whether they succeed. */
  halfOpen(): void {
    if (this.state === 'open') {
      this.state = 'half-open';
    }
  }

  /**
   * Records that a query succeeded. While open that changes nothing: it was sent before.
   *
   * @returns whether an outage ended.
   */
  succeeded(): boolean {
    this.failures = 0;
    const ends = this.state === 'half-open';
    if (ends) {
      this.state = 'closed';
    }
    return ends;
  }
}
