/** The waits after each failed attempt, in seconds: less than a day in all. */
const WAITS_SECONDS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 36_000];
/** The share of a wait that is random, so that deliveries that failed together are not repeated together. */
const JITTER = 0.2;
const RETRY_AFTER_MAX_SECONDS = 3600;

/**
 * Returns the milliseconds to wait before the next attempt, or null if there is none.
 *
 * @param attempts those that have failed, at least 1.
 * @param retryAfter the header of the response, if any. It can lengthen the wait up to an hour.
 * @param random from 0 to 1.
 */
export function nextWaitMs(attempts: number, retryAfter: string | undefined, random: number): number | null {
  const seconds = WAITS_SECONDS[attempts - 1];
  if (seconds === undefined) {
    return null;
  }
  const asked = /^\d{1,9}$/.test(String(retryAfter)) ? Number(retryAfter) : 0;
  const jittered = seconds * (1 - JITTER * random);
  return Math.round(Math.max(jittered, Math.min(asked, RETRY_AFTER_MAX_SECONDS)) * 1000);
}
