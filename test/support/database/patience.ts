import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../../src/database/access/availability.js';

/** Less than a hook may take. */
const PATIENCE_MS = 40_000;

/**
 * Repeats set-up work while the database is unavailable to it: a busy machine may not open a connection
 * within the time that a request of the service waits for one.
 */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > deadlineMs) {
        throw error;
      }
      await pause(50);
    }
  }
}
