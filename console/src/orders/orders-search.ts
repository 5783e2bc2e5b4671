import type { OrderStatus } from 'animal-store-client';
import { oneOf, searchReader } from '../address/search-reader';

export const ORDER_STATUSES = ['placed', 'approved', 'delivered'] as const satisfies OrderStatus[];

export const ordersSearch = searchReader({ status: oneOf(ORDER_STATUSES) });
