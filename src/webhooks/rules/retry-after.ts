/** Statuses whose `Retry-After` says when the receiver wants the next request. */
const OBEYED: ReadonlySet<number> = new Set([429, 503]);
const DATE_FORM = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the time until which a receiver wants no request, by its response: a number of seconds, or a date
 * of HTTP. Null if it does not say so.
 *
 * @param nowMs when the response came.
 * @param maxMs the latest time that is returned.
 */
export function retryAfterMs(
  { status, retryAfter }: { status: number; retryAfter: string | null },
  nowMs: number,
  maxMs: number,
): number | null {
  if (retryAfter === null || !OBEYED.has(status)) {
    return null;
  }
  const untilMs = /^\d+$/.test(retryAfter) ? nowMs + Number(retryAfter) * 1000 : dateMs(retryAfter);
  return untilMs > nowMs ? Math.min(untilMs, maxMs) : null;
}

const dateMs = (text: string) => (DATE_FORM.test(text) ? Date.parse(text) : NaN);
