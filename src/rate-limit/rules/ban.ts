import { DAY_MS } from '../../process/time-units.js';
import type { WindowLimits } from './windows.js';

/** The ban level falls by one for each such time since the end of a ban. */
export const LEVEL_FALLS_AFTER_MS = DAY_MS;

/** How many times the limit per minute must be denied within a minute to start a ban. */
const LIMITS_DENIED = 1;

export interface Ban {
  /** When it ends, in milliseconds since the Unix epoch, by the store's clock. */
  untilMs: number;
  /** Whether this very request started it. */
  started: boolean;
}

/**
 * Returns how many denials within a minute start a ban; null if none does, because bans are off or the
 * client is anonymous.
 *
 * @param banDurations milliseconds that the first ban lasts, the next, and so on; empty if bans are off.
 */
export function banThreshold(
  { perMinute, perDay }: WindowLimits,
  banDurations: readonly number[],
): number | null {
  return banDurations.length > 0 && perDay !== null ? LIMITS_DENIED * perMinute : null;
}

/** Returns the Unix time in seconds, rounded up, at which a ban is over. */
export function banEndSeconds({ untilMs }: Ban): number {
  return Math.ceil(untilMs / 1000);
}

/** Returns the whole seconds, at least 1, from `nowMs` to the second that `banEndSeconds()` returns. */
export function secondsToBanEnd(ban: Ban, nowMs: number): number {
  return Math.max(1, Math.ceil((banEndSeconds(ban) * 1000 - nowMs) / 1000));
}
