import { Stack, Text } from '@mantine/core';
import type { Webhook } from 'animal-store-client';
import { Countdown } from '../feedback/countdown';
import { StatusBadge } from '../format/status-badge';
import { hasFailed, isFailing } from './is-failing';
import { useWebhookRefresh } from './webhook-query';

type Shown = Pick<
  Webhook,
  'paused' | 'pauseReason' | 'lastDelivery' | 'failingDeliveryCount' | 'nextAttemptAt'
>;

/** Why the service pauses a webhook, in a word. */
const PAUSED_BY_SERVICE: Record<string, string> = { gone: 'paused: gone', failing: 'paused: failing' };

/** Shows whether a webhook is paused, or a delivery failed, and when the next one is sent. */
export function WebhookState({ webhook }: { webhook: Shown }) {
  const { paused, pauseReason, lastDelivery, failingDeliveryCount, nextAttemptAt } = webhook;
  const refresh = useWebhookRefresh();
  if (paused) {
    const status = PAUSED_BY_SERVICE[pauseReason ?? ''];
    return <StatusBadge status={status ?? 'paused'} color={status === undefined ? 'orange.6' : 'red.6'} />;
  }
  if (!isFailing(webhook)) {
    return <StatusBadge status="active" color="forest.6" />;
  }
  const reason = hasFailed(webhook)
    ? (lastDelivery?.responseStatus ?? 'no response')
    : `${failingDeliveryCount} pending`;
  return (
    <Stack gap={2} align="flex-start">
      <StatusBadge status={`failing: ${reason}`} color="red.6" />
      {nextAttemptAt !== null && (
        <Text component="span" size="xs" c="dimmed">
          Next try in <Countdown untilMs={Date.parse(nextAttemptAt)} onEnd={refresh} />
        </Text>
      )}
    </Stack>
  );
}
