import { type Bar, type Period, PERIOD_MS, toBars } from './periods';
import type { UsageTotals } from 'animal-store-client';

/** A range of time up to now that a page shows by periods. */
export interface Range {
  period: Period;
  /** Names the range in a choice. */
  label: string;
  /** Names the range in a sentence. */
  text: string;
  /** Counts the periods, the current one included. */
  count: number;
}

export const RANGES: Record<Period, Range> = {
  minute: { period: 'minute', label: '1 hour', text: 'the last hour', count: 60 },
  hour: { period: 'hour', label: '24 hours', text: 'the last 24 hours', count: 24 },
  day: { period: 'day', label: '30 days', text: 'the last 30 days', count: 30 },
};

/** Returns the start of the first period of a range that ends at `untilMs`. */
export function rangeStartMs({ period, count }: Range, untilMs: number): number {
  const length = PERIOD_MS[period];
  return (Math.floor(untilMs / length) - count + 1) * length;
}

/** Returns the bars of a range that ends at `untilMs`, and the sums of their requests. */
export function summarizeRange(totals: UsageTotals[], range: Range, untilMs: number) {
  const startMs = rangeStartMs(range, untilMs);
  const bars: Bar[] = toBars(totals, range.period, startMs, untilMs);
  const shown = totals.filter(({ startsAt }) => Date.parse(startsAt) >= startMs);
  return {
    bars,
    requests: shown.reduce((sum, each) => sum + each.requests, 0),
    denied: shown.reduce((sum, each) => sum + each.denied, 0),
  };
}
