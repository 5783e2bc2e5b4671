/** Puts off the end of the session while anything holds it, and ends it with the last hold. */
export class SessionHolds {
  private count = 0;
  private reason: string | null = null;

  /** @param end ends the session, for a reason. */
  constructor(private readonly end: (reason: string) => void) {}

  /** Holds the session until the returned function is called. */
  readonly hold = (): (() => void) => {
    this.count += 1;
    return () => {
      this.count -= 1;
      // React releases the holds of a page before it takes those that replace them.
      queueMicrotask(() => this.endUnlessHeld());
    };
  };

  /** Ends the session, at once or with the last hold. */
  readonly endOrWait = (reason: string): void => {
    this.reason = reason;
    this.endUnlessHeld();
  };

  /** Keeps an end that was put off from ending the session of the next key. */
  readonly forgetEnd = (): void => {
    this.reason = null;
  };

  private endUnlessHeld(): void {
    const { reason } = this;
    if (this.count === 0 && reason !== null) {
      this.reason = null;
      this.end(reason);
    }
  }
}
