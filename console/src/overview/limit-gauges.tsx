import { SimpleGrid, Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { RateLimitStatus } from 'animal-store-client';
import { Loaded } from '../feedback/loaded';
import { BanPanel } from './ban-panel';
import { WindowGauge } from './window-gauge';

const TITLES = { minute: 'This minute', day: 'Today (UTC)' };
const GAUGE_HEIGHT = 172;
const GRID = { cols: { base: 1, sm: 3 }, spacing: 'lg' };

interface LimitGaugesProps {
  query: UseQueryResult<RateLimitStatus>;
  /** Called when a window or a ban ends. */
  onEnd: () => void;
}

/** Shows both windows of a quota, and its ban or how far it is from one. */
export function LimitGauges({ query, onEnd }: LimitGaugesProps) {
  return (
    <Loaded
      query={query}
      skeleton={
        <SimpleGrid {...GRID}>
          {['minute', 'day', 'ban'].map((each) => (
            <Skeleton key={each} height={GAUGE_HEIGHT} radius="lg" />
          ))}
        </SimpleGrid>
      }
    >
      {(status) => (
        <SimpleGrid {...GRID}>
          {status.windows.map(({ name, limit, remaining, reset }) => (
            <WindowGauge
              key={name}
              title={TITLES[name]}
              limit={limit}
              remaining={remaining}
              resetMs={reset * 1000}
              onReset={onEnd}
            />
          ))}
          <BanPanel status={status} onEnd={onEnd} />
        </SimpleGrid>
      )}
    </Loaded>
  );
}
