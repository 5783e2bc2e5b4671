import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 5;

/** Retries until the expectation holds, and returns its result. @throws its last error after the deadline. */
export async function eventually<Result>(
  expectation: () => Promise<Result>,
  deadlineMs = 15_000,
): Promise<Result> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > deadline) {
        throw error;
      }
    }
    await pause(PAUSE_MS);
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
