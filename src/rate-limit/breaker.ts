const FAILURES_IN_A_ROW = 3;

/** Says when to stop asking somebody who does not answer. What it is told are questions, not the requests that wait for them. */
export class Breaker {
  private failures = 0;
  private open = false;

  /** Whether nothing is to be asked. */
  get isOpen(): boolean {
    return this.open;
  }

  /**
   * A question failed.
   *
   * @param isCertain whether one failure is enough to know, as when there is no connection.
   * @returns whether that opened it.
   */
  failed(isCertain: boolean): boolean {
    this.failures += 1;
    const opens = !this.open && (isCertain || this.failures >= FAILURES_IN_A_ROW);
    this.open ||= opens;
    return opens;
  }

  /** A question was answered. */
  succeeded(): void {
    this.failures = 0;
    this.open = false;
  }
}
