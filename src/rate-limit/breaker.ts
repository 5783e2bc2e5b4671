const FAILURES_IN_A_ROW = 3;

/**
 * Says when to stop asking somebody who does not answer, and when the outage is over. What it is told are questions, not the
 * requests that wait for them.
 *
 * Open, nothing is asked. Half-open, somebody has found out that asking may be of use again; the next answer tells whether it
 * is, and the next failure that it is not.
 */
export class Breaker {
  private failures = 0;
  private state: 'closed' | 'open' | 'half-open' = 'closed';

  /** Whether nothing is to be asked. */
  get isOpen(): boolean {
    return this.state === 'open';
  }

  /**
   * A question failed.
   *
   * @param isCertain whether one failure is enough to know, as when there is no connection.
   * @returns whether an outage began by that.
   */
  failed(isCertain: boolean): boolean {
    this.failures += 1;
    const begins = this.state === 'closed' && (isCertain || this.failures >= FAILURES_IN_A_ROW);
    if (begins || this.state === 'half-open') {
      this.state = 'open';
    }
    return begins;
  }

  /** Lets questions be asked again, to see what becomes of them. */
  tryAgain(): void {
    if (this.state === 'open') {
      this.state = 'half-open';
    }
  }

  /**
   * A question was answered. While open that says nothing: it was asked before.
   *
   * @returns whether an outage ended by that.
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
