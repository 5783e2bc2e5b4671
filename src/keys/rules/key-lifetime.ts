import { DAY_MS } from '../../process/time-units.js';

/** Ten years. */
export const KEY_LIFETIME_MAX_DAYS = 3650;

/** Returns the last expiry that a key which is issued at `nowMs` may have; null for any, or none. */
export function latestExpiry(maxKeyLifetimeDays: number | null, nowMs: number): Date | null {
  return maxKeyLifetimeDays === null ? null : new Date(nowMs + maxKeyLifetimeDays * DAY_MS);
}

/** Returns the earlier of two times; null is never. */
export function earliest(one: Date | null, other: Date): Date;
export function earliest(one: Date | null, other: Date | null): Date | null;
export function earliest(one: Date | null, other: Date | null): Date | null {
  return one !== null && (other === null || one < other) ? one : other;
}
