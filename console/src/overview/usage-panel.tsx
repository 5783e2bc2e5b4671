import { Group, SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Usage } from 'animal-store-client';
import { useState } from 'react';
import type { Period } from '../charts/periods';
import { RangeChart, RangeChartPlaceholder } from '../charts/range-chart';
import { RangeSelect } from '../charts/range-select';
import { RANGES, rangeStartMs } from '../charts/ranges';
import { Loaded } from '../feedback/loaded';
import { Panel } from '../layout/panel';
import { useOwnKey } from '../session/own-key';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { DownloadCsv } from './download-csv';
import { OwnShares } from './own-shares';
import { pollIntervalMs } from './poll-interval';

const SPLITS = {
  total: { label: 'Total', by: undefined, text: 'By outcome' },
  operation: { label: 'By operation', by: 'operation', text: 'By operation' },
  key: { label: 'By key', by: 'key', text: 'By key' },
} as const;
type Split = keyof typeof SPLITS;
const CHOICES = Object.entries(SPLITS).map(([value, { label }]) => ({ value: value as Split, label }));

/**
 * Shows the requests of the key's quota by outcome, beside the limit of the plan if the period has one, or by
 * operation or key.
 */
export function UsagePanel() {
  const store = useStore();
  const { data: key } = useOwnKey();
  const [period, setPeriod] = useState<Period>('minute');
  const [split, setSplit] = useState<Split>('total');
  const usage = useUsage(period, split, pollIntervalMs(key?.perDay));
  return (
    <Panel
      title="Requests"
      description={`${SPLITS[split].text}, of this key and the keys it shares its limits with`}
      actions={<RangeSelect period={period} onChange={setPeriod} query={usage} />}
    >
      <Group justify="space-between" gap="sm" mb="md">
        <SegmentedControl size="xs" aria-label="Split by" data={CHOICES} value={split} onChange={setSplit} />
        <DownloadCsv
          name={`usage-${key?.lastFour}-${split}-${RANGES[period].label.replace(' ', '-')}`}
          list={() => store.usage.listCsv(rangeQuery(period, split, serviceNowMs()))}
        />
      </Group>
      <Loaded query={usage} skeleton={<RangeChartPlaceholder range={RANGES[period]} />}>
        {({ entries, untilMs, shown }) =>
          shown.split === 'total' ? (
            <RangeChart
              totals={entries}
              untilMs={untilMs}
              range={RANGES[shown.period]}
              limit={{ minute: key?.perMinute, hour: null, day: key?.perDay }[shown.period] ?? null}
            />
          ) : (
            <OwnShares entries={entries} by={shown.split} range={RANGES[shown.period]} ownKey={key} />
          )
        }
      </Loaded>
    </Panel>
  );
}

/**
 * Loads the usage of a range. Only the totals are loaded repeatedly, because they have one page, and what is
 * split may have many.
 */
function useUsage(period: Period, split: Split, intervalMs: number | false) {
  const store = useStore();
  return useQuery({
    queryKey: ['usage', period, split],
    queryFn: async ({ signal }) => {
      const untilMs = serviceNowMs();
      const entries: Usage[] = [];
      for await (const entry of store.usage.list(rangeQuery(period, split, untilMs), { signal })) {
        entries.push(entry);
      }
      return { entries, untilMs, shown: { period, split } };
    },
    placeholderData: keepPreviousData,
    refetchInterval: split === 'total' && intervalMs,
  });
}

/** Returns the query of the usage in a range up to now. */
function rangeQuery(period: Period, split: Split, untilMs: number) {
  const { by } = SPLITS[split];
  const since = new Date(rangeStartMs(RANGES[period], untilMs)).toISOString();
  return { period, since, ...(by !== undefined && { by }) };
}
