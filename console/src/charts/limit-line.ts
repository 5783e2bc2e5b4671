import { numberText } from '../format/number';

/** A line higher than this many times the highest bar would flatten the bars. */
const IN_SCALE = 4;

/** Where the line of a limit is, and what it is called. */
interface LimitLine {
  /** Null if the limit is far above the bars, so that only its label is shown. */
  y: number | null;
  label: string;
}

/** Returns the line of a limit at its height, or only a label if it is far above the bars. */
export function placeLimitLine(limit: number, highest: number): LimitLine {
  return limit <= Math.max(1, highest) * IN_SCALE
    ? { y: limit, label: `Limit ${numberText(limit)}` }
    : { y: null, label: `Limit ${numberText(limit)} (above this scale)` };
}
