import { isConflict } from './availability.js';

const RETRY_CONFLICTS_MS = 1000;

/**
 * Runs work that is one transaction, and retries it after conflicts.
 *
 * @param endMs the end of the retries, by the monotonic clock. Default: a second after the first conflict.
 * @throws the error of the last try.
 */
export async function retryConflicts<Result>(work: () => Promise<Result>, endMs?: number): Promise<Result> {
  let end = endMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      end ??= performance.now() + RETRY_CONFLICTS_MS;
      if (!isConflict(error) || performance.now() >= end) {
        throw error;
      }
    }
  }
}
