import { Button, Group, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { IconZoomOut } from '@tabler/icons-react';
import type { UsageTotals } from 'animal-store-client';
import { OutcomeView } from '../charts/outcome-view';
import { type Bar, PERIOD_MS, toBars } from '../charts/periods';
import { Placeholder } from '../feedback/placeholder';
import { countText, numberText } from '../format/number';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { RangeFields } from './range-fields';
import { ReportPanel } from './report-panel';
import { PRESETS, toQuery, toRange, type TrafficRange, type TrafficSearch } from './traffic-range';
import { useReport } from './use-report';

const PAGE = 100;

interface OutcomePanelProps {
  search: TrafficSearch;
  onSearch: (search: TrafficSearch) => void;
}

/** Shows all requests by outcome. Dragging over the chart shows that part alone. */
export function OutcomePanel({ search, onSearch }: OutcomePanelProps) {
  const store = useStore();
  const report = useReport(['totals', search], async (signal) => {
    const range = toRange(search, serviceNowMs());
    const { items } = await store.admin.usage.totals({ ...toQuery(range), limit: PAGE }, { signal });
    return { totals: items, range };
  });
  const isZoomed = search.from !== undefined;
  return (
    <ReportPanel
      title="Requests"
      description="Of all keys, by outcome. Drag over the chart to look closer."
      report={report}
      loading={
        <Placeholder>
          <Chart totals={[]} search={search} range={toRange(search, serviceNowMs())} onSearch={onSearch} />
        </Placeholder>
      }
      actions={
        <Group gap="xs">
          {isZoomed && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconZoomOut size={14} aria-hidden />}
              onClick={() => onSearch({})}
            >
              Zoom out
            </Button>
          )}
          <SegmentedControl
            size="xs"
            aria-label="Range"
            data={PRESETS.map(({ value, label }) => ({ value, label }))}
            value={isZoomed ? '' : (search.range ?? 'day')}
            onChange={(value) => onSearch(value === 'day' ? {} : { range: value as 'hour' | 'month' })}
          />
        </Group>
      }
    >
      {({ totals, range }) => <Chart totals={totals} search={search} range={range} onSearch={onSearch} />}
    </ReportPanel>
  );
}

interface ChartProps {
  totals: UsageTotals[];
  search: TrafficSearch;
  range: TrafficRange;
  onSearch: (search: TrafficSearch) => void;
}

function Chart({ totals, search, range, onSearch }: ChartProps) {
  const { period, fromMs, untilMs } = range;
  const sum = (value: (each: UsageTotals) => number) =>
    totals.reduce((total, each) => total + value(each), 0);
  const requests = sum((each) => each.requests);
  const denied = sum((each) => each.denied);
  const failures = sum((each) => each.statuses['5xx']);
  const select = (first: Bar, last: Bar) =>
    onSearch({ from: String(first.startMs), until: String(last.startMs + PERIOD_MS[period]) });
  return (
    <>
      <OutcomeView
        summary={
          <SimpleGrid cols={3} maw={520} miw={280} spacing="xs">
            <Figure label="Requests" value={requests} />
            <Figure label="Over the limit" value={denied} share={denied / requests} />
            <Figure label="Server errors" value={failures} share={failures / requests} />
          </SimpleGrid>
        }
        label={`Chart: ${countText(requests, 'request')}, ${numberText(denied)} denied`}
        bars={toBars(totals, period, fromMs, untilMs)}
        onSelect={select}
      />
      {/* While the range of an address loads, the chart still has the range before; the fields do not. */}
      <RangeFields key={JSON.stringify(search)} range={toRange(search, serviceNowMs())} onSearch={onSearch} />
    </>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

function Figure({ label, value, share }: { label: string; value: number; share?: number }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Group gap={6} align="baseline">
        <Text fz={{ base: 20, sm: 24 }} fw={650} lh={1.3}>
          {numberText(value)}
        </Text>
        {share !== undefined && share > 0 && (
          <Text size="sm" c="dimmed">
            {percent.format(share)}
          </Text>
        )}
      </Group>
    </div>
  );
}
