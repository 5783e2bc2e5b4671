import { isConflict } from './availability.js';

const RETRY_CONFLICTS_MS = 1000;

/**
 * Runs work that is one transaction, and retries it after conflicts.
 *
 * @param endMs the end of the retries, by the monotonic clock.
 * @throws the error of the last try.
 */
export async function retryConflicts<Result>(
  work: () => Promise<Result>,
  endMs = performance.now() + RETRY_CONFLICTS_MS,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || performance.now() >= endMs) {
        throw error;
      }
    }
  }
}
