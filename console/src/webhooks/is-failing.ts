import type { Webhook } from 'animal-store-client';

/** Returns whether the last attempt to deliver to a webhook failed. */
export function isFailing({ lastDelivery }: Pick<Webhook, 'lastDelivery'>): boolean {
  return lastDelivery !== null && lastDelivery.lastFailure !== null && lastDelivery.state !== 'delivered';
}
