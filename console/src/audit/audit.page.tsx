import { Box, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { AuditEvent, ListAuditEventsQuery } from 'animal-store-client';
import { uuid } from '../address/search-reader';
import { ActorText } from '../audit-event/actor-text';
import { actionText } from '../audit-event/audit-texts';
import { Changes } from '../audit-event/changes';
import { Subject } from '../audit-event/subject';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { ZONE_TEXT } from '../format/zone';
import { KeyLink } from '../keys/key-link';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { AuditFilters } from './audit-filters';
import type { AuditSearch } from './audit-search';

const route = getRouteApi('/admin/audit');

const COLUMNS: Column<AuditEvent>[] = [
  {
    header: 'Time',
    id: 'createdAt',
    cell: ({ row: { original } }) => <Instant at={original.createdAt} toSecond />,
  },
  {
    header: 'Actor',
    id: 'actor',
    cell: ({ row: { original } }) => <Actor actor={original.actor} />,
  },
  {
    header: 'Action',
    id: 'action',
    cell: ({ row: { original } }) => (
      <Box className="change-cell">
        <Text size="sm" fw={600}>
          {actionText(original)}
        </Text>
        <Changes entry={original} />
      </Box>
    ),
  },
  {
    header: 'Subject',
    id: 'subject',
    cell: ({ row: { original } }) => (
      <Box maw={180}>
        <Subject subject={original.subject} />
      </Box>
    ),
  },
];

function Actor({ actor }: Pick<AuditEvent, 'actor'>) {
  return actor.id === null || actor.prefix === null ? (
    <Text component="div" inherit lineClamp={2} maw={160} className="name-cell">
      <ActorText actor={actor} />
    </Text>
  ) : (
    <Box maw={160}>
      <KeyLink id={actor.id} apiKey={actor} />
    </Box>
  );
}

/** Lists what administrators and holders did, newest first. The address contains the filters and the page. */
export function AuditPage() {
  const store = useStore();
  const search = route.useSearch();
  const { cursor: _cursor, page: _page, ...filters } = search;
  const navigate = route.useNavigate();
  const pages = useCursorPages({
    queryKey: ['audit', filters],
    load: (cursor, signal) =>
      store.admin.audit.list({ limit: 20, ...toQuery(filters), ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(search),
  });
  return (
    <Page title="Audit" description={`Changes to keys, plans and webhooks, and who made them. ${ZONE_TEXT}.`}>
      <Panel>
        <AuditFilters search={filters} onChange={(next) => void navigate({ search: next, replace: true })} />
        <DataTable
          label="Audit entries"
          columns={COLUMNS}
          pages={pages}
          minWidth={860}
          empty={
            <EmptyState icon={IconHistory} title="No entries">
              <Text inherit>No action matches these filters.</Text>
            </EmptyState>
          }
        />
      </Panel>
    </Page>
  );
}

/** Returns the query of the filters, with times in UTC. */
function toQuery({ since, until, action, actor, ...rest }: AuditSearch): ListAuditEventsQuery {
  return {
    ...rest,
    ...(actor !== undefined && (uuid(actor) ? { actorId: actor } : { actorName: actor })),
    ...(action !== undefined && { action: action as NonNullable<ListAuditEventsQuery['action']> }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}
