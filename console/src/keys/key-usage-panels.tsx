import { Group, Skeleton, Switch, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { KeyWithUsage } from 'animal-store-client';
import { useState } from 'react';
import type { Period } from '../charts/periods';
import { RangeChart, RangeChartPlaceholder } from '../charts/range-chart';
import { RangeSelect } from '../charts/range-select';
import { RANGES, rangeStartMs } from '../charts/ranges';
import { operationShare, ShareTable } from '../charts/share-table';
import { Loaded } from '../feedback/loaded';
import { DownloadCsv } from '../overview/download-csv';
import { Panel } from '../layout/panel';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';

/**
 * Shows the requests of a key, or of all keys of its quota, in a range, by outcome and by operation.
 */
export function KeyUsagePanels({ apiKey }: { apiKey: KeyWithUsage }) {
  const store = useStore();
  const [period, setPeriod] = useState<Period>('hour');
  const [isOfQuota, setOfQuota] = useState(false);
  const { id, quotaId } = apiKey;
  const selection = isOfQuota ? { quotaId } : { keyId: id };
  const usage = useQuery({
    queryKey: ['key-usage', selection, period],
    queryFn: async ({ signal }) => {
      const untilMs = serviceNowMs();
      const since = new Date(rangeStartMs(RANGES[period], untilMs)).toISOString();
      const [totals, operations] = await Promise.all([
        store.admin.usage.totals({ ...selection, period, since, limit: 100 }, { signal }),
        store.admin.usage.byOperation({ ...selection, period, since, limit: 100 }, { signal }),
      ]);
      return { totals: totals.items, operations: operations.items, untilMs, shown: period };
    },
    placeholderData: keepPreviousData,
  });
  const { data, error } = usage;
  return (
    <>
      <Panel
        title="Requests"
        description={isOfQuota ? 'By outcome, of all keys of the quota' : 'By outcome, of this key alone'}
        actions={<RangeSelect period={period} onChange={setPeriod} query={usage} />}
      >
        <Group justify="space-between" gap="sm" mb="sm">
          <Switch
            label="All keys of the quota"
            checked={isOfQuota}
            onChange={(event) => setOfQuota(event.currentTarget.checked)}
          />
          <DownloadCsv
            name={`usage-${isOfQuota ? quotaId : apiKey.lastFour}-${RANGES[period].label.replace(' ', '-')}`}
            list={() => {
              const since = new Date(rangeStartMs(RANGES[period], serviceNowMs())).toISOString();
              return store.admin.usage.totalsCsv({ ...selection, period, since });
            }}
          />
        </Group>
        <Loaded query={usage} skeleton={<RangeChartPlaceholder range={RANGES[period]} />}>
          {({ totals, untilMs, shown }) => (
            <RangeChart totals={totals} untilMs={untilMs} range={RANGES[shown]} />
          )}
        </Loaded>
      </Panel>
      <Panel title="Operations" description={`In ${RANGES[data?.shown ?? period].text}`}>
        {data !== undefined ? (
          <ShareTable
            header="Operation"
            shares={data.operations.map(({ operation, deprecated, ...counts }) =>
              operationShare(operation, deprecated, counts),
            )}
            empty="The key sent no requests in this range."
          />
        ) : error === null ? (
          <Skeleton height={160} radius="md" />
        ) : (
          <Text size="sm" c="dimmed">
            They are loaded together with the requests above.
          </Text>
        )}
      </Panel>
    </>
  );
}
