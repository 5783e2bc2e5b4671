/** The largest share of a day's requests that keeping one page up to date may take. */
const SHARE_OF_DAY = 0.02;
const MIN_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Returns the milliseconds between requests that count against the key: each minute, and less often for a
 * small limit.
 *
 * @param queries of the page that are repeated.
 */
export function pollIntervalMs(perDay: number | null | undefined, queries = 1): number {
  const affordable = Math.max(1, ((perDay ?? 1000) * SHARE_OF_DAY) / queries);
  return Math.max(MIN_MS, DAY_MS / affordable);
}
