import type { WebhookDelivery } from 'animal-store-client';
import { StatusBadge } from '../format/status-badge';

const COLORS: Record<WebhookDelivery['state'], string> = {
  pending: 'orange.6',
  delivered: 'forest.6',
  failed: 'red.6',
};

/** Shows the state of a delivery. */
export function DeliveryState({ state }: Pick<WebhookDelivery, 'state'>) {
  return <StatusBadge status={state} color={COLORS[state]} />;
}
