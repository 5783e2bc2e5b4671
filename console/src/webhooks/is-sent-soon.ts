import type { WebhookDelivery } from 'animal-store-client';
import { serviceNowMs } from '../session/service-clock';

const SOON_MS = 60_000;

/** Returns whether a webhook or a delivery has its next attempt soon, or had it due just now. */
export function isSentSoon({ nextAttemptAt }: Pick<WebhookDelivery, 'nextAttemptAt'>): boolean {
  return nextAttemptAt !== null && Date.parse(nextAttemptAt) < serviceNowMs() + SOON_MS;
}
