import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time-units.js';

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
