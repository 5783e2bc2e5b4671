import { Box, Code } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { DeprecatedCaller } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { numberText } from '../format/number';
import { KeyLink } from '../keys/key-link';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';

const SHOWN = 10;
const route = getRouteApi('/admin/');

const COLUMNS: Column<DeprecatedCaller>[] = [
  {
    header: 'Operation',
    id: 'operation',
    cell: ({ row: { original } }) => <Code>{original.operation}</Code>,
  },
  {
    header: 'Key',
    id: 'key',
    cell: ({ row: { original } }) => (
      <Box maw={320}>
        <KeyLink id={original.keyId} apiKey={{ ...original, name: original.keyName }} />
      </Box>
    ),
  },
  { header: 'Requests', id: 'requests', cell: ({ row: { original } }) => numberText(original.requests) },
  { header: 'Last', id: 'last', cell: ({ row: { original } }) => <Instant at={original.lastCalledAt} /> },
];

/** Lists the keys that still call deprecated operations. The address contains the page. */
export function CallersPanel() {
  const store = useStore();
  const pages = useCursorPages({
    queryKey: ['traffic', 'callers'],
    load: (cursor, signal) =>
      store.admin.deprecations.list({ limit: SHOWN, ...(cursor && { cursor }) }, { signal }),
    position: useAddressPosition(route.useSearch()),
  });
  return (
    <Panel title="Still calling deprecated operations" description="In the last 400 days">
      <DataTable
        label="Callers of deprecated operations"
        columns={COLUMNS}
        pages={pages}
        minWidth={520}
        numbers={['requests']}
        empty={<EmptyState icon={IconCircleCheck} title="No key calls a deprecated operation" />}
      />
    </Panel>
  );
}
