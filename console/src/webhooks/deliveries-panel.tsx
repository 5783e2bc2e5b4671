import { Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSend } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Webhook, WebhookDelivery } from 'animal-store-client';
import { useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { errorMessage } from '../feedback/error-message';
import { Instant } from '../format/instant';
import { StatusBadge } from '../format/status-badge';
import { UntrustedText } from '../format/untrusted-text';
import { Panel } from '../layout/panel';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { StatusFilter } from '../table/status-filter';
import { useCursorPages } from '../table/use-cursor-pages';
import { eventText } from './event-texts';
import { useWebhookRefresh } from './webhook-query';

const COLORS: Record<WebhookDelivery['state'], string> = {
  pending: 'orange.6',
  delivered: 'forest.6',
  failed: 'red.6',
};
const SOON_MS = 60_000;
const STATES = ['pending', 'delivered', 'failed'] as const;

/** Lists the deliveries of a webhook, and sends one again. */
export function DeliveriesPanel({ webhook }: { webhook: Webhook }) {
  const store = useStore();
  const [state, setState] = useState<WebhookDelivery['state']>();
  const pages = useCursorPages<WebhookDelivery>({
    queryKey: ['webhooks', 'deliveries', webhook.id, state],
    isChanging,
    load: (cursor, signal) =>
      store.admin.webhooks.deliveries(
        webhook.id,
        { limit: 20, ...(state && { state }), ...(cursor && { cursor }) },
        { signal },
      ),
  });
  return (
    <Panel
      title="Deliveries"
      description="They are kept for 30 days"
      actions={<StatusFilter statuses={STATES} value={state} onChange={setState} />}
    >
      <DataTable
        label="Deliveries of this webhook"
        columns={columnsFor(webhook)}
        pages={pages}
        minWidth={720}
        empty={
          <EmptyState icon={IconSend} title="No deliveries">
            It receives the next of its events.
          </EmptyState>
        }
      />
    </Panel>
  );
}

/** Returns whether a delivery may be in flight, or is sent soon. */
function isChanging({ nextAttemptAt, lastAttemptAt }: WebhookDelivery): boolean {
  const nowMs = serviceNowMs();
  const isInFlight = lastAttemptAt !== null && Date.parse(lastAttemptAt) > nowMs - SOON_MS;
  return nextAttemptAt !== null && (isInFlight || Date.parse(nextAttemptAt) < nowMs + SOON_MS);
}

function columnsFor(webhook: Webhook): Column<WebhookDelivery>[] {
  return [
    { id: 'queued', header: 'Queued', cell: ({ row }) => <Instant at={row.original.createdAt} /> },
    { id: 'event', header: 'Event', cell: ({ row }) => eventText(row.original.event) },
    {
      id: 'state',
      header: 'State',
      cell: ({ row: { original } }) => <StatusBadge status={original.state} color={COLORS[original.state]} />,
    },
    { id: 'attempts', header: 'Attempts', cell: ({ row: { original } }) => <Attempts delivery={original} /> },
    {
      id: 'resend',
      header: 'Again',
      cell: ({ row: { original } }) =>
        original.state !== 'pending' && <ResendButton webhook={webhook} delivery={original} />,
    },
  ];
}

function Attempts({ delivery: { attempts, lastFailure, nextAttemptAt } }: { delivery: WebhookDelivery }) {
  return (
    <Stack gap={2}>
      <Text size="sm">
        {attempts}
        {nextAttemptAt !== null && attempts > 0 && (
          <>
            , the next <Instant at={nextAttemptAt} />
          </>
        )}
      </Text>
      {lastFailure !== null && (
        <Text size="xs" c="dimmed" component="div" maw={280}>
          <UntrustedText>{lastFailure}</UntrustedText>
        </Text>
      )}
    </Stack>
  );
}

function ResendButton({ webhook, delivery }: { webhook: Webhook; delivery: WebhookDelivery }) {
  const store = useStore();
  const refresh = useWebhookRefresh();
  const { mutate, isPending } = useMutation({
    mutationFn: () => store.admin.webhooks.resend(webhook.id, delivery.id),
    onSuccess: () => refresh(),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'It was not sent again', message: errorMessage(error) }),
  });
  return (
    <Button size="compact-sm" variant="default" loading={isPending} onClick={() => mutate()}>
      Send again
    </Button>
  );
}
