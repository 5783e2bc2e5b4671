import { Button, Group, NativeSelect, Skeleton, Table, Text } from '@mantine/core';
import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import { type ReactNode, useRef } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { StaleNotice } from '../feedback/stale-notice';
import { numberText } from '../format/number';
import { CardCell, CardTable } from './card-table';
import type { CursorPages } from './use-cursor-pages';

const features = tableFeatures({});

/** A column: its `header`, and a `cell` that shows `row.original`. */
export type Column<Item extends RowData> = ColumnDef<typeof features, Item>;

interface DataTableProps<Item extends RowData> {
  /** Names the table for screen readers. */
  label: string;
  columns: Column<Item>[];
  pages: CursorPages<Item>;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Opens a row. The first column must have a button or link that does the same for the keyboard. */
  onRowClick?: (item: Item) => void;
  minWidth?: number;
  /** The ids of the columns that are aligned at the right, as numbers are. */
  numbers?: readonly string[];
  pageSize?: PageSize;
}

/** How many rows a page has, for a list whose reader chooses it. */
interface PageSize {
  value: number;
  choices: readonly string[];
  onChange: (value: string) => void;
}

/** A table of one page of a list, with the buttons to the next and the previous page. */
export function DataTable<Item extends RowData>(props: DataTableProps<Item>) {
  const { label, columns, pages, empty, onRowClick, minWidth = 640, numbers = [], pageSize } = props;
  const { query, items } = pages;
  const table = useTable({ features, columns, data: items });
  const viewport = useRef<HTMLDivElement>(null);
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
  const alignmentOf = (id: string) => (numbers.includes(id) ? ('right' as const) : ('left' as const));
  const headers = table.getFlatHeaders().map((header) => ({
    id: header.id,
    label: <table.FlexRender header={header} />,
    align: alignmentOf(header.id),
  }));
  return (
    <>
      {staleNotice}
      <CardTable
        label={label}
        headers={headers}
        minWidth={minWidth}
        viewportRef={viewport}
        highlightOnHover={onRowClick !== undefined}
        aria-busy={query.isFetching}
      >
        {table.getRowModel().rows.map((row) => (
          <Table.Tr
            key={row.id}
            role="row"
            onClick={() => onRowClick?.(row.original)}
            style={onRowClick === undefined ? undefined : { cursor: 'pointer' }}
          >
            {row.getAllCells().map((cell) => (
              <CardCell
                key={cell.id}
                label={textOf(cell.column.columnDef.header)}
                ta={alignmentOf(cell.column.id)}
              >
                <table.FlexRender cell={cell} />
              </CardCell>
            ))}
          </Table.Tr>
        ))}
      </CardTable>
      {(pages.hasNext || pages.number > 1 || pageSize !== undefined) && (
        <Pager
          pages={pages}
          pageSize={pageSize}
          onTurn={() => viewport.current && showTop(viewport.current)}
        />
      )}
    </>
  );
}

/** Shows the top of a table and moves the focus there. */
function showTop(viewport: HTMLElement): void {
  viewport.focus({ preventScroll: true });
  viewport.scrollIntoView();
}

/** Returns a header that is a text; undefined for one that is hidden from sight. */
function textOf(header: unknown): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

interface PagerProps<Item> {
  pages: CursorPages<Item>;
  pageSize: PageSize | undefined;
  onTurn: () => void;
}

function Pager<Item>({ pages, pageSize, onTurn }: PagerProps<Item>) {
  const isBusy = pages.query.isFetching;
  const turn = (turnPage: () => void) => () => {
    turnPage();
    onTurn();
  };
  return (
    <Group justify="space-between" pt="md">
      <Text size="sm" c="dimmed" aria-live="polite">
        {pageSize === undefined ? `Page ${pages.number}` : positionText(pages, pageSize.value)}
      </Text>
      <Group gap="xs">
        {pageSize !== undefined && (
          <NativeSelect
            aria-label="Rows on a page"
            size="xs"
            value={String(pageSize.value)}
            onChange={({ currentTarget }) => pageSize.onChange(currentTarget.value)}
            data={pageSize.choices.map((value) => ({ value, label: `${value} rows` }))}
          />
        )}
        <Button
          size="xs"
          variant="default"
          disabled={pages.number === 1 || isBusy}
          onClick={turn(pages.previous)}
        >
          Previous
        </Button>
        <Button size="xs" variant="default" disabled={!pages.hasNext || isBusy} onClick={turn(pages.next)}>
          Next
        </Button>
      </Group>
    </Group>
  );
}

/** Returns which rows of all the page has, such as "21–40 of 134"; a page whose rows are gone has none. */
function positionText<Item>({ number, items, query }: CursorPages<Item>, size: number): string {
  const first = (number - 1) * size + 1;
  const rows = items.length === 0 ? '0' : `${numberText(first)}–${numberText(first + items.length - 1)}`;
  const total = query.data?.total;
  return total === undefined ? rows : `${rows} of ${numberText(total)}`;
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
