const STEPS = 3;

/** No result came in time. It has the code of a socket that timed out. */
export class DeadlineError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * Waits for a result, at most until the deadline.
 *
 * The time passes in three steps: a process that was stopped loses one of them, however long it was stopped. After the last, the sockets
 * are read once more, as the result may lie there already.
 *
 * @throws DeadlineError after the deadline; else as the promise does.
 */
export function withinDeadline<T>(result: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let stepsLeft = STEPS;
    const timer = setInterval(() => {
      stepsLeft -= 1;
      if (stepsLeft === 0) {
        clearInterval(timer);
        // Timers are run before sockets are read, and immediates after.
        setImmediate(() => reject(new DeadlineError(`There was no response within ${deadlineMs} ms`)));
      }
    }, deadlineMs / STEPS);
    result.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
