/** No response takes so long to arrive, so one that seems to means that the clock of this machine was set. */
const SLOWEST_RESPONSE_MS = 60_000;

/** How far the clock of this machine is ahead of the service's; null before the first response. */
let aheadMs: number | null = null;

/** Takes the time from a response that has just arrived. */
export function learnServiceTime(headers: Headers): void {
  const sinceSentMs = Date.now() - Date.parse(headers.get('Date') ?? '');
  if (Number.isNaN(sinceSentMs)) {
    return;
  }
  // `Date` has whole seconds, so the smallest difference is the nearest.
  const isNearer = aheadMs === null || sinceSentMs < aheadMs || sinceSentMs > aheadMs + SLOWEST_RESPONSE_MS;
  aheadMs = isNearer ? sinceSentMs : aheadMs;
}

/**
 * Returns the time now by the service's clock, which limits, bans and usage go by. The clock of this machine
 * may differ.
 */
export function serviceNowMs(): number {
  return serviceMs(Date.now());
}

/** Returns a time of this machine by the service's clock. */
export function serviceMs(localMs: number): number {
  return localMs - (aheadMs ?? 0);
}
