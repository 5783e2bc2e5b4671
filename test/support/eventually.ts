import { setTimeout as pause } from 'node:timers/promises';

/**
 * A pause takes a twentieth of the time before it, between these: what is awaited needs the processor too.
 */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 50];

/** Retries until the expectation holds, and returns its result. @throws its last error after the deadline. */
export async function eventually<Result>(
  expectation: () => Promise<Result>,
  deadlineMs = 15_000,
): Promise<Result> {
  const started = performance.now();
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() - started > deadlineMs) {
        throw error;
      }
    }
    const pauseMs = (performance.now() - started) / 20;
    await pause(Math.min(Math.max(pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  }
}

/** Retries until `isSo` returns true. @throws Error after the deadline. */
export function until(isSo: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  return eventually(async () => {
    if (!(await isSo())) {
      throw new Error('The condition was not met in time');
    }
  }, deadlineMs);
}
