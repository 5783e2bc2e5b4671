import type { Webhook } from 'animal-store-client';
import { StatusBadge } from '../format/status-badge';

/** Shows whether a webhook is paused. */
export function WebhookState({ webhook: { paused } }: { webhook: Pick<Webhook, 'paused'> }) {
  return paused ? (
    <StatusBadge status="paused" color="orange.6" />
  ) : (
    <StatusBadge status="active" color="forest.6" />
  );
}
