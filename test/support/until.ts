import { setTimeout as pause } from 'node:timers/promises';

/** Asks until it is so, or fails after `deadlineMs` milliseconds. */
export async function until(isSo: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      throw new Error('It did not come about in time');
    }
    await pause(5);
  }
}
