import { Button, Group, Skeleton, Table, Text } from '@mantine/core';
import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { StaleNotice } from '../feedback/stale-notice';
import type { CursorPages } from './use-cursor-pages';

const features = tableFeatures({});

/** A column: its `header`, and a `cell` that shows `row.original`. */
export type Column<Item extends RowData> = ColumnDef<typeof features, Item>;

interface DataTableProps<Item extends RowData> {
  /** Names the table for readers of the screen. */
  label: string;
  columns: Column<Item>[];
  pages: CursorPages<Item>;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Opens a row. The first column must have a button or link that does the same for the keyboard. */
  onRowClick?: (item: Item) => void;
  minWidth?: number;
}

/** A table of one page of a list, with the buttons to the next and the previous page. */
export function DataTable<Item extends RowData>(props: DataTableProps<Item>) {
  const { label, columns, pages, empty, onRowClick, minWidth = 640 } = props;
  const { query, items } = pages;
  const table = useTable({ features, columns, data: items });
  const { data, error, errorUpdatedAt, refetch } = query;
  if (error !== null && data === undefined) {
    return <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />;
  }
  const staleNotice = error !== null && <StaleNotice error={error} at={errorUpdatedAt} retry={refetch} />;
  // While another list loads, the one before stays; if that is empty, it shows nothing of the new one.
  const isLoading = query.isPending || (query.isPlaceholderData && items.length === 0);
  if (!isLoading && items.length === 0 && pages.number === 1) {
    return (
      <>
        {staleNotice}
        {empty}
      </>
    );
  }
  if (isLoading) {
    return <LoadingTable />;
  }
  return (
    <>
      {staleNotice}
      <Table.ScrollContainer
        minWidth={minWidth}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
      >
        <Table highlightOnHover={onRowClick !== undefined} aria-label={label} aria-busy={query.isFetching}>
          <Table.Thead>
            {table.getHeaderGroups().map((group) => (
              <Table.Tr key={group.id}>
                {group.headers.map((header) => (
                  <Table.Th
                    key={header.id}
                    scope="col"
                    fw={550}
                    c="dimmed"
                    fz="sm"
                    style={{ whiteSpace: 'nowrap' }}
                  >
                    <table.FlexRender header={header} />
                  </Table.Th>
                ))}
              </Table.Tr>
            ))}
          </Table.Thead>
          <Table.Tbody>
            {table.getRowModel().rows.map((row) => (
              <Table.Tr
                key={row.id}
                onClick={() => onRowClick?.(row.original)}
                style={onRowClick === undefined ? undefined : { cursor: 'pointer' }}
              >
                {row.getAllCells().map((cell) => (
                  <Table.Td key={cell.id}>
                    <table.FlexRender cell={cell} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {(pages.hasNext || pages.number > 1) && <Pager pages={pages} />}
    </>
  );
}

function Pager<Item>({ pages }: { pages: CursorPages<Item> }) {
  const isBusy = pages.query.isFetching;
  return (
    <Group justify="space-between" pt="md">
      <Text size="sm" c="dimmed" aria-live="polite">
        Page {pages.number}
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" disabled={pages.number === 1 || isBusy} onClick={pages.previous}>
          Previous
        </Button>
        <Button size="xs" variant="default" disabled={!pages.hasNext || isBusy} onClick={pages.next}>
          Next
        </Button>
      </Group>
    </Group>
  );
}

const LOADING_ROWS = ['header', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth'];

/** Has no headers: the width of their columns depends on the rows. */
function LoadingTable() {
  return (
    <Table aria-hidden>
      <Table.Tbody>
        {LOADING_ROWS.map((row) => (
          <Table.Tr key={row}>
            <Table.Td h={46}>
              <Skeleton height={20} radius="sm" />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
