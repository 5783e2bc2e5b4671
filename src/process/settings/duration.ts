import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time-units.js';

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', 1000],
] as const;
const UNIT_MS: Record<string, number> = { s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const MAX_MS = 36_500 * DAY_MS;

/**
 * Returns the milliseconds of a duration such as `90s`, `30m`, `24h`, `7d` or `0`; null if it is invalid or
 * longer than a century.
 */
export function parseDuration(text: string): number | null {
  const [, digits = '', unit] = /^(\d+)([smhd])?$/.exec(text) ?? [];
  const factor = unit === undefined ? null : UNIT_MS[unit];
  const milliseconds = Number(digits) * (factor ?? 0);
  const isDuration = digits !== '' && (factor !== null || Number(digits) === 0);
  return isDuration && milliseconds <= MAX_MS ? milliseconds : null;
}

/** Returns a duration of whole seconds in words, such as "24 hours", "7 days" or "90 minutes". */
export function durationText(milliseconds: number): string {
  // A day alone is "24 hours".
  const [name, unit] = UNITS.find(
    ([, ms]) => milliseconds % ms === 0 && milliseconds > (ms === DAY_MS ? ms : 0),
  )!;
  const count = milliseconds / unit;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
