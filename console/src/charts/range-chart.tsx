import { Text } from '@mantine/core';
import type { UsageTotals } from 'animal-store-client';
import { Placeholder } from '../feedback/placeholder';
import { countText, numberText } from '../format/number';
import { serviceNowMs } from '../session/service-clock';
import { OutcomeView } from './outcome-view';
import { type Range, summarizeRange } from './ranges';

interface RangeChartProps {
  totals: UsageTotals[];
  range: Range;
  untilMs: number;
  /** The limit of one period, if it has one. */
  limit?: number | null;
}

/** Shows the requests of a range by outcome, with their sums in words. */
export function RangeChart({ totals, range, untilMs, limit = null }: RangeChartProps) {
  const { bars, requests, denied } = summarizeRange(totals, range, untilMs);
  const summary = `${countText(requests, 'request')} in ${range.text}, ${numberText(denied)} denied`;
  return (
    <OutcomeView
      summary={
        <Text size="sm" c="dimmed">
          {summary}
        </Text>
      }
      label={`Chart: ${summary}${limit === null ? '' : `, limit ${numberText(limit)} per ${range.period}`}`}
      bars={bars}
      limit={limit}
    />
  );
}

/** Reserves the space of the chart of a range while its requests load. */
export function RangeChartPlaceholder({ range }: { range: Range }) {
  return (
    <Placeholder>
      <RangeChart totals={[]} range={range} untilMs={serviceNowMs()} />
    </Placeholder>
  );
}
