import { Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Order } from 'animal-store-client';
import { ScopedButton } from '../form/scoped-button';
import { ForScope } from '../layout/for-scope';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { StatusFilter } from '../table/status-filter';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { ORDER_STATUSES } from './orders-search';
import { OrdersTable } from './orders-table';
import { PlaceOrderDialog } from './place-order-dialog';
import { StabilityBadge } from '../format/stability-badge';

const PAGE_SIZE = 20;
const route = getRouteApi('/orders');

/** Lists the orders of the key's quota, and places one. The address has the filter and the page. */
export function OrdersPage() {
  return (
    <ForScope scope="orders:read" title="Orders">
      <Orders />
    </ForScope>
  );
}

function Orders() {
  const store = useStore();
  const queryClient = useQueryClient();
  const navigate = route.useNavigate();
  const { status, ...page } = route.useSearch();
  const [isPlacing, placing] = useDisclosure(false);
  const pages = useCursorPages<Order>({
    queryKey: ['orders', { status }],
    load: (cursor, signal) => {
      const query = { limit: PAGE_SIZE, ...(status && { status }), ...(cursor && { cursor }) };
      return store.orders.list(query, { signal });
    },
    position: useAddressPosition(page),
  });
  const filter = (chosen: typeof status) =>
    navigate({ search: chosen ? { status: chosen } : {}, resetScroll: false });
  const showPlaced = ({ id, petId }: Order) => {
    placing.close();
    notifications.show({
      title: `Order ${id} is placed`,
      message: `For animal ${petId}. New orders are last in the list.`,
    });
    return queryClient.invalidateQueries({ queryKey: ['orders'] });
  };
  const placeButton = (
    <ScopedButton
      scope="orders:write"
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={placing.open}
    >
      Place an order
    </ScopedButton>
  );
  return (
    <Page
      title="Orders"
      badge={<StabilityBadge stability="beta" />}
      description="Placed with this key and those that share its limits, oldest first"
      actions={placeButton}
    >
      <Panel>
        <Stack gap="md">
          <div>
            <StatusFilter statuses={ORDER_STATUSES} value={status} onChange={filter} />
          </div>
          <OrdersTable pages={pages} status={status} />
        </Stack>
      </Panel>
      <PlaceOrderDialog opened={isPlacing} onClose={placing.close} onPlaced={showPlaced} />
    </Page>
  );
}
