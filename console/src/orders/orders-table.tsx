import { Text } from '@mantine/core';
import { IconCheck, IconFilterOff, IconReceipt } from '@tabler/icons-react';
import type { Order, OrderStatus } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { numberText } from '../format/number';
import { StatusBadge } from '../format/status-badge';
import { type Column, DataTable } from '../table/data-table';
import type { CursorPages } from '../table/use-cursor-pages';

const COLORS: Record<OrderStatus, string> = {
  placed: 'indigo.5',
  approved: 'yellow.6',
  delivered: 'forest.6',
};

/** Every field of an order. */
const COLUMNS: { [Name in keyof Required<Order>]: Column<Order> } = {
  id: { header: 'ID', cell: ({ row }) => String(row.original.id) },
  petId: { header: 'Animal', cell: ({ row }) => String(row.original.petId) },
  quantity: { header: 'Quantity', cell: ({ row }) => numberText(row.original.quantity) },
  shipDate: { header: 'Ship date', cell: ({ row }) => <Instant at={row.original.shipDate} none="—" /> },
  status: {
    header: 'Status',
    cell: ({ row: { original } }) => <StatusBadge status={original.status} color={COLORS[original.status]} />,
  },
  complete: { header: 'Complete', cell: ({ row }) => <Complete isComplete={row.original.complete} /> },
};

const COLUMN_LIST = Object.entries(COLUMNS).map(([id, column]): Column<Order> => ({ ...column, id }));

interface OrdersTableProps {
  pages: CursorPages<Order>;
  /** Filters the list, if given. */
  status: OrderStatus | undefined;
}

export function OrdersTable({ pages, status }: OrdersTableProps) {
  const empty =
    status === undefined ? (
      <EmptyState icon={IconReceipt} title="No orders yet">
        Orders placed with this key, or with one that shares its limits, are listed here.
      </EmptyState>
    ) : (
      <EmptyState icon={IconFilterOff} title={`No order is ${status}`}>
        Choose another status, or all, to see the other orders.
      </EmptyState>
    );
  return <DataTable label="Orders" columns={COLUMN_LIST} pages={pages} empty={empty} minWidth={680} />;
}

function Complete({ isComplete }: { isComplete: boolean }) {
  return isComplete ? (
    <Text component="span" inherit style={{ display: 'inline-flex', alignItems: 'center', gap: 4 }}>
      <IconCheck size={16} aria-hidden />
      Yes
    </Text>
  ) : (
    'No'
  );
}
