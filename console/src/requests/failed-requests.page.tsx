import { getRouteApi } from '@tanstack/react-router';
import type { AdminFailedRequest } from 'animal-store-client';
import { ZONE_TEXT } from '../format/zone';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { FailedRequestFilters } from './failed-request-filters';
import { FailedRequestsTable } from './failed-requests-table';
import { toQuery } from './failed-requests-search';

const route = getRouteApi('/admin/requests');

/** Lists the requests of all clients that failed, newest first. The address has the filters and the page. */
export function FailedRequestsPage() {
  const store = useStore();
  const search = route.useSearch();
  const { cursor: _cursor, page: _page, ...filters } = search;
  const navigate = route.useNavigate();
  const pages = useCursorPages<AdminFailedRequest>({
    queryKey: ['failed-requests', 'all', filters],
    load: (cursor, signal) =>
      store.admin.requests.list({ limit: 20, ...toQuery(filters), ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(search),
  });
  return (
    <Page
      title="Failed requests"
      description={`Requests of all clients that got 4xx or 5xx, newest first. ${ZONE_TEXT}.`}
    >
      <Panel>
        <FailedRequestFilters
          search={filters}
          onChange={(next) => void navigate({ search: next, replace: true })}
          isOfAll
        />
        <FailedRequestsTable pages={pages} isOfAll />
      </Panel>
    </Page>
  );
}
