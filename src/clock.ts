/** Time as this service is given it, so that a test can travel in it. */
export class Clock {
  /** Milliseconds to add to the counter store's own clock, the one clock of all windows. */
  readonly storeOffsetMs: number = 0;

  /** This process's time, in milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }
}
