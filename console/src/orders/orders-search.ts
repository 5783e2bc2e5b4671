import type { OrderStatus } from 'animal-store-client';
import { oneOf, searchReader } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

export const ORDER_STATUSES = ['placed', 'approved', 'delivered'] as const satisfies OrderStatus[];

/** The filter and the page of the list. */
export const ordersSearch = withPage(searchReader({ status: oneOf(ORDER_STATUSES) }));
