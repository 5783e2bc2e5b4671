import { Text } from '@mantine/core';
import type { UsageTotals } from 'animal-store-client';
import { countText } from '../format/number';
import { LazyOutcomeChart } from './lazy-outcome-chart';
import { type Range, rangeOf } from './ranges';

interface RangeChartProps {
  totals: UsageTotals[];
  range: Range;
  untilMs: number;
  /** The limit of one period, where there is one. */
  limit?: number | null;
}

/** Shows the requests of a range by outcome, with their sums in words. */
export function RangeChart({ totals, range, untilMs, limit = null }: RangeChartProps) {
  const { bars, requests, refusals } = rangeOf(totals, range, untilMs);
  const summary = `${countText(requests, 'request')} in ${range.text}, ${countText(refusals, 'refusal')}`;
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {summary}
      </Text>
      <LazyOutcomeChart label={`Chart: ${summary}`} bars={bars} limit={limit} />
    </>
  );
}
