import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Period } from '../charts/periods';
import { RangeChart, RangeChartPlaceholder } from '../charts/range-chart';
import { RangeSelect } from '../charts/range-select';
import { RANGES } from '../charts/ranges';
import { Loaded } from '../feedback/loaded';
import { Panel } from '../layout/panel';
import { useOwnKey } from '../session/own-key';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { pollIntervalMs } from './poll-interval';

/** Shows the requests of the key's quota by outcome, beside the limit of the plan if the period has one. */
export function UsagePanel() {
  const store = useStore();
  const { data: key } = useOwnKey();
  const [period, setPeriod] = useState<Period>('minute');
  const usage = useQuery({
    queryKey: ['own-usage', period],
    queryFn: async ({ signal }) => {
      const { items } = await store.listOwnUsage({ period, limit: 100 }, { signal });
      return { totals: items, untilMs: serviceNowMs(), shown: period };
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollIntervalMs(key?.perDay),
  });
  return (
    <Panel
      title="Requests"
      description="By outcome, of this key and the keys it shares its limits with"
      actions={<RangeSelect period={period} onChange={setPeriod} query={usage} />}
    >
      <Loaded query={usage} skeleton={<RangeChartPlaceholder range={RANGES[period]} />}>
        {(data) => (
          <RangeChart
            {...data}
            range={RANGES[data.shown]}
            limit={{ minute: key?.perMinute, hour: null, day: key?.perDay }[data.shown] ?? null}
          />
        )}
      </Loaded>
    </Panel>
  );
}
