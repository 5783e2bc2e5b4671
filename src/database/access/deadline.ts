const STEPS = 10;
/** A step that takes this much longer than it should does not count: this process was late, or stopped. */
const LATE_MS = 50;
/** Multiple of the deadline after which a process that is late all the time gives up too. */
const MAX_WAIT = 4;

/** There was no result in time. It has the code of a socket that timed out. */
export class DeadlineError extends Error {
  readonly code = 'ETIMEDOUT';

  /** @param wasLate whether this process was late, so that the error says nothing about the other side. */
  constructor(
    deadlineMs: number,
    readonly wasLate: boolean,
  ) {
    super(`There was no response within ${deadlineMs} ms`);
  }
}

/**
 * Waits for a result until the deadline. Only the time counts in which this process was not late, up to four
 * times the deadline in all. Sockets are read once more after the last step, because the result may lie there
 * already.
 *
 * @throws DeadlineError after the deadline; else as the promise does.
 */
export function withinDeadline<T>(result: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const stepMs = deadlineMs / STEPS;
    const startMs = performance.now();
    let lastMs = startMs;
    let stepsLeft = STEPS;
    const timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - lastMs < stepMs + LATE_MS) {
        stepsLeft -= 1;
      }
      lastMs = nowMs;
      if (stepsLeft === 0 || nowMs - startMs >= MAX_WAIT * deadlineMs) {
        clearInterval(timer);
        // Timers run before sockets are read, and immediates after.
        setImmediate(() => reject(new DeadlineError(deadlineMs, stepsLeft > 0)));
      }
    }, stepMs);
    result.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
