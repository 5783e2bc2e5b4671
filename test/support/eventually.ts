import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 5;

/** Retries until the expectation holds. @throws its last error after the deadline. */
export async function eventually(expectation: () => Promise<unknown>, deadlineMs = 15_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      await expectation();
      return;
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
