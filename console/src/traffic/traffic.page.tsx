import { SimpleGrid, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../layout/page';
import { BansPanel } from './bans-panel';
import { CallersPanel } from './callers-panel';
import { OutcomePanel } from './outcome-panel';
import { TopOperations, TopUsage } from './top-lists';
import type { TrafficSearch } from './traffic-range';

const route = getRouteApi('/admin/');

/** What an administrator wants to see first: the traffic of all keys, and what needs attention. */
export function TrafficPage() {
  const { cursor: _cursor, page: _page, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  // The page of the callers is not of the range.
  const show = (next: TrafficSearch) =>
    void navigate({
      search: ({ range: _range, from: _from, until: _until, ...page }) => ({ ...page, ...next }),
      state: true,
    });
  return (
    <Page title="Traffic" description="The requests of all keys">
      <Stack gap="lg">
        <OutcomePanel search={search} onSearch={show} />
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          <TopUsage search={search} />
          <TopOperations search={search} />
        </SimpleGrid>
        <BansPanel />
        <CallersPanel />
      </Stack>
    </Page>
  );
}
