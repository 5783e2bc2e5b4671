import { Box, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import type { FailedRequest, AdminFailedRequest } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { countText } from '../format/number';
import { TextLink } from '../layout/text-link';
import { type Column, DataTable } from '../table/data-table';
import type { CursorPages } from '../table/use-cursor-pages';
import { RequestKey, Response, tookText } from './failed-request-cells';

/** A request of any client for administrators, or one of the holder's own. */
type Listed = FailedRequest | AdminFailedRequest;

const columnsFor = (isOfAll: boolean): Column<Listed>[] => [
  {
    id: 'time',
    header: 'Time',
    cell: ({ row: { original } }) => <Instant at={original.requestedAt} toSecond />,
  },
  {
    id: 'request',
    header: 'Request',
    cell: ({ row: { original } }) => (
      <Box maw={220} className="name-cell">
        <TextLink
          to={isOfAll ? '/admin/requests/show' : '/requests/show'}
          search={{ id: original.requestId }}
          size="xs"
          ff="monospace"
          underline="hover"
          style={{ overflowWrap: 'anywhere' }}
        >
          {original.method} <bdi>{original.path}</bdi>
        </TextLink>
      </Box>
    ),
  },
  { id: 'response', header: 'Response', cell: ({ row }) => <Response request={row.original} /> },
  {
    id: 'key',
    header: 'Key',
    cell: ({ row }) => <RequestKey request={row.original} isOfAll={isOfAll} />,
  },
  {
    id: 'took',
    header: 'Took',
    cell: ({ row }) => <span className="one-line">{tookText(row.original)}</span>,
  },
  ...(isOfAll ? [ADDRESS] : []),
];

const ADDRESS: Column<Listed> = {
  id: 'address',
  header: 'Address',
  cell: ({ row: { original } }) => (
    // An address of IPv4 has one line.
    <Box miw={80} style={{ overflowWrap: 'anywhere' }}>
      {'clientAddress' in original && original.clientAddress}
    </Box>
  ),
};

const NUMBERS = ['took'];
const COLUMNS = columnsFor(true);
const OWN_COLUMNS = columnsFor(false);

interface FailedRequestsTableProps {
  pages: CursorPages<Listed>;
  isOfAll: boolean;
}

/** A page of the list of failed requests, and how many more of its time were not kept. */
export function FailedRequestsTable({ pages, isOfAll }: FailedRequestsTableProps) {
  const missing = pages.query.data?.missing ?? 0;
  return (
    <>
      {missing > 0 && (
        <Text size="sm" c="dimmed" mb="sm">
          {countText(missing, 'more request')} of this time failed, but {missing === 1 ? 'was' : 'were'} not
          kept: at most 60 a minute are
          {isOfAll && ' for a quota, and at most 60 for all requests without a known key'}.
        </Text>
      )}
      <DataTable
        label="Failed requests"
        columns={isOfAll ? COLUMNS : OWN_COLUMNS}
        pages={pages}
        numbers={NUMBERS}
        minWidth={isOfAll ? 900 : 760}
        empty={
          <EmptyState icon={IconCircleCheck} title="No failed requests">
            No request that got 4xx or 5xx matches these filters. They are kept for a day, unless the service
            is set otherwise.
          </EmptyState>
        }
      />
    </>
  );
}
