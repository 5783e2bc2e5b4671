import type { Webhook } from 'animal-store-client';

/**
 * Returns whether the last attempt to deliver to a webhook failed, or that of a delivery which is pending. A
 * test event may succeed meanwhile.
 */
export function isFailing(webhook: Pick<Webhook, 'lastDelivery' | 'failingDeliveryCount'>): boolean {
  return hasFailed(webhook) || webhook.failingDeliveryCount > 0;
}

/** Returns whether the last attempt to deliver to a webhook failed. */
export function hasFailed({ lastDelivery }: Pick<Webhook, 'lastDelivery'>): boolean {
  return lastDelivery !== null && lastDelivery.lastFailure !== null && lastDelivery.state !== 'delivered';
}
