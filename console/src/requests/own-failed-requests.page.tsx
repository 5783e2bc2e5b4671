import { getRouteApi } from '@tanstack/react-router';
import type { FailedRequest } from 'animal-store-client';
import { StabilityBadge } from '../format/stability-badge';
import { ZONE_TEXT } from '../format/zone';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { FailedRequestFilters } from './failed-request-filters';
import { FailedRequestsTable } from './failed-requests-table';
import { toQuery } from './failed-requests-search';

const route = getRouteApi('/requests');

/** Lists the requests with keys of the reader's quota that failed, newest first. */
export function OwnFailedRequestsPage() {
  const store = useStore();
  const search = route.useSearch();
  const { cursor: _cursor, page: _page, quotaId: _quotaId, externalId: _externalId, ...filters } = search;
  const navigate = route.useNavigate();
  const pages = useCursorPages<FailedRequest>({
    queryKey: ['failed-requests', 'own', filters],
    load: (cursor, signal) =>
      store.requests.list({ limit: 20, ...toQuery(filters), ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(search),
  });
  return (
    <Page
      title="Failed requests"
      badge={<StabilityBadge stability="beta" />}
      description={`Requests with keys of your quota that got 4xx or 5xx, newest first. ${ZONE_TEXT}.`}
    >
      <Panel>
        <FailedRequestFilters
          search={filters}
          onChange={(next) => void navigate({ search: next, replace: true })}
          isOfAll={false}
        />
        <FailedRequestsTable pages={pages} isOfAll={false} />
      </Panel>
    </Page>
  );
}
