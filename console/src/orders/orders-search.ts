import type { OrderStatus } from 'animal-store-client';

export const ORDER_STATUSES = ['placed', 'approved', 'delivered'] as const satisfies OrderStatus[];

/** Returns what the page understands of the query of an address. */
export function ordersSearch({ status }: Record<string, unknown>): { status?: OrderStatus } {
  const known = ORDER_STATUSES.find((each) => each === status);
  return known === undefined ? {} : { status: known };
}
