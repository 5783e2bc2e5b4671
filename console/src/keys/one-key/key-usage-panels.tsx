import { Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Period } from '../../charts/periods';
import { RangeChart, RangeChartPlaceholder } from '../../charts/range-chart';
import { RangeSelect } from '../../charts/range-select';
import { RANGES, rangeStartMs } from '../../charts/ranges';
import { Loaded } from '../../feedback/loaded';
import { Panel } from '../../layout/panel';
import { serviceNowMs } from '../../session/service-clock';
import { useStore } from '../../session/session';
import { OperationShares } from './operation-shares';

/** Shows the requests of one key in a range, by outcome and by operation. */
export function KeyUsagePanels({ id }: { id: string }) {
  const store = useStore();
  const [period, setPeriod] = useState<Period>('hour');
  const usage = useQuery({
    queryKey: ['key-usage', id, period],
    queryFn: async ({ signal }) => {
      const untilMs = serviceNowMs();
      const since = new Date(rangeStartMs(RANGES[period], untilMs)).toISOString();
      const [totals, operations] = await Promise.all([
        store.admin.usage.totals({ key: id, period, since, limit: 100 }, { signal }),
        store.admin.usage.operations({ key: id, period, since }, { signal }),
      ]);
      return { totals: totals.items, operations, untilMs, shown: period };
    },
    placeholderData: keepPreviousData,
  });
  const { data, error } = usage;
  return (
    <>
      <Panel
        title="Requests"
        description="By outcome, of this key alone"
        actions={<RangeSelect period={period} onChange={setPeriod} query={usage} />}
      >
        <Loaded query={usage} skeleton={<RangeChartPlaceholder range={RANGES[period]} />}>
          {({ totals, untilMs, shown }) => (
            <RangeChart totals={totals} untilMs={untilMs} range={RANGES[shown]} />
          )}
        </Loaded>
      </Panel>
      <Panel title="Operations" description={`In ${RANGES[data?.shown ?? period].text}`}>
        {data !== undefined ? (
          <OperationShares operations={data.operations} />
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
