/** The waits from each failed attempt to the next, in seconds: less than a day in all. */
const WAITS_SECONDS = [15, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 36_000];
/** The share of a wait that is random, so that deliveries that failed together are not repeated together. */
const JITTER = 0.2;

/**
 * Returns the milliseconds from a failed attempt to the next, or null if there is none.
 *
 * @param attempts those that have failed, at least 1.
 * @param random from 0 to 1.
 */
export function nextWaitMs(attempts: number, random: number): number | null {
  const seconds = WAITS_SECONDS[attempts - 1];
  return seconds === undefined ? null : Math.round(seconds * (1 - JITTER * random) * 1000);
}
