const STEPS = 3;

/** There was no answer in time. It has the code of a socket that timed out. */
export class DeadlineError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * Waits for an answer, but not for ever.
 *
 * The time passes in three steps, each begun by the event loop when the last was over. A replica that was stopped itself, by
 * the machine or by work of its own, so loses one step however long it was stopped. After the last, the sockets are
 * read once more: an answer that lay there all the time is an answer.
 *
 * @param deadlineMs how long to wait.
 * @throws DeadlineError when that was not long enough; else as the answer does.
 */
export function withinDeadline<T>(answer: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (step: number) => {
      timer = setTimeout(() => {
        if (step < STEPS) {
          wait(step + 1);
        } else {
          // Timers are run before sockets are read, and immediates after.
          setImmediate(() => reject(new DeadlineError(`There was no answer within ${deadlineMs} ms`)));
        }
      }, deadlineMs / STEPS);
    };
    wait(1);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
