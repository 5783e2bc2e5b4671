/**
 * Returns the milliseconds of a `Retry-After` header (RFC 9110, section 10.2.3), or null if it is missing or
 * malformed.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) {
    return null;
  }
  if (/^\d+$/.test(header)) {
    return Number(header) * 1000;
  }
  // Date.parse accepts much that is not a date, such as "-1".
  const atMs = header.endsWith('GMT') ? Date.parse(header) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
