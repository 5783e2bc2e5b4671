import type { WebhookDelivery } from 'animal-store-client';
import { oneOf, searchReader } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

export const DELIVERY_STATES = [
  'pending',
  'delivered',
  'failed',
] as const satisfies WebhookDelivery['state'][];

/** The filter and the page of the list. */
export const deliveriesSearch = withPage(searchReader({ state: oneOf(DELIVERY_STATES) }));
