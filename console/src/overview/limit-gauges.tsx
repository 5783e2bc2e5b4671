import { SimpleGrid } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { RateLimitStatus } from 'animal-store-client';
import { Loaded } from '../feedback/loaded';
import { Placeholder } from '../feedback/placeholder';
import { BanPanel } from './ban-panel';
import { WindowGauge } from './window-gauge';

const TITLES: Record<string, string> = { minute: 'This minute', day: 'Today (UTC)' };
const GRID = { cols: { base: 2, sm: 3 }, spacing: { base: 'sm', sm: 'lg' } };
const EXAMPLE: RateLimitStatus = {
  plan: 'pro',
  windows: [
    { name: 'minute', limit: 1000, remaining: 1000, reset: 0 },
    { name: 'day', limit: 1000, remaining: 1000, reset: 0 },
  ],
  bannedUntil: null,
  denialsUntilBan: 100,
};

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
          {renderGauges(EXAMPLE, () => undefined).map((gauge) => (
            <Placeholder key={gauge.key}>{gauge}</Placeholder>
          ))}
        </SimpleGrid>
      }
    >
      {(status) => <SimpleGrid {...GRID}>{renderGauges(status, onEnd)}</SimpleGrid>}
    </Loaded>
  );
}

function renderGauges(status: RateLimitStatus, onEnd: () => void) {
  return [
    ...status.windows.map(({ name, limit, remaining, reset }) => (
      <WindowGauge
        key={name}
        title={TITLES[name] ?? name}
        limit={limit}
        remaining={remaining}
        resetMs={reset * 1000}
        isBanned={status.bannedUntil !== null}
        onReset={onEnd}
      />
    )),
    <BanPanel key="ban" status={status} onEnd={onEnd} />,
  ];
}
