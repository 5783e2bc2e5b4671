import { numberText } from '../format/number';

/** A line higher than this many times the highest bar would flatten the bars. */
const IN_SCALE = 4;
const STEPS = 4;

/** Where the line of a limit is, and the axis that it needs. */
export interface LimitLine {
  y: number;
  label: string;
  /** The ticks of the axis if the line is at its top instead of at the height of the limit. */
  ticks?: number[];
}

/**
 * Returns the line of a limit: at its height or, far above the bars, at the top of their scale, and its label
 * says so.
 */
export function placeLimitLine(limit: number, highest: number): LimitLine {
  if (limit <= Math.max(1, highest) * IN_SCALE) {
    return { y: limit, label: `Limit ${numberText(limit)}` };
  }
  const step = stepAbove(highest / STEPS);
  const ticks = Array.from({ length: STEPS + 1 }, (_, index) => index * step);
  return { y: step * STEPS, label: `Limit ${numberText(limit)} (above this scale)`, ticks };
}

/** Returns the next round integer above a number, so that no bar reaches the line. */
function stepAbove(least: number): number {
  const magnitude = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, least))));
  return [1, 2, 5, 10].map((each) => each * magnitude).find((each) => each > least) ?? 20 * magnitude;
}
