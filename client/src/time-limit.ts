/** A longer timer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or rejects as soon as the signal is aborted. Leaves neither timer nor listener. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, timerMs(ms));
    signal.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Runs `work` with a signal that is aborted with the one given, or when the time is over. Leaves neither
 * timer nor listener, unlike `AbortSignal.timeout` and `AbortSignal.any`, because many calls may share one
 * signal.
 */
export async function within<Result>(
  limitMs: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`the time of ${Math.ceil(limitMs)} ms is over`, 'TimeoutError'));
  }, timerMs(limitMs));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Rounds up, because a timer takes whole numbers only and would end early. */
function timerMs(ms: number): number {
  return Math.min(Math.ceil(Math.max(ms, 0)), LONGEST_TIMER_MS);
}
