import type { Webhook } from 'animal-store-client';

/**
 * Returns whether the last attempt to deliver to a webhook failed, or a pending delivery has failed before,
 * even if a test event succeeded since.
 */
export function isFailing(webhook: Pick<Webhook, 'lastDelivery' | 'failingDeliveryCount'>): boolean {
  return hasFailed(webhook) || webhook.failingDeliveryCount > 0;
}

/** Returns whether the last attempt to deliver to a webhook failed. */
export function hasFailed({ lastDelivery }: Pick<Webhook, 'lastDelivery'>): boolean {
  return lastDelivery !== null && lastDelivery.lastFailure !== null && lastDelivery.state !== 'delivered';
}
