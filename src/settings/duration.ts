const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_MS = 36_500 * 86_400_000;

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
