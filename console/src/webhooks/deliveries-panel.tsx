import { Anchor, Group, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { AnimalStore, Webhook, WebhookDelivery } from 'animal-store-client';
import { useMemo, useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { UntrustedText } from '../format/untrusted-text';
import { Panel } from '../layout/panel';
import { Countdown } from '../feedback/countdown';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { StatusFilter } from '../table/status-filter';
import { useAddressPosition } from '../table/use-address-position';
import { useCursorPages } from '../table/use-cursor-pages';
import { DELIVERY_STATES } from './deliveries-search';
import { DeliveryDrawer } from './delivery-drawer';
import { DeliveryState } from './delivery-state';
import { eventText, TEST_EVENT } from './event-texts';
import { isSentSoon } from './is-sent-soon';
import { showTestResult } from './show-test-result';
import { WebhookButton } from './webhook-button';
import { useWebhookRefresh } from './webhook-query';

const IN_FLIGHT_MS = 60_000;
const route = getRouteApi('/admin/webhooks/$id');

/**
 * Lists the deliveries of a webhook, shows each, and sends one again, or a test event. The address contains
 * the filter and the page.
 */
export function DeliveriesPanel({ webhook }: { webhook: Webhook }) {
  const store = useStore();
  const refresh = useWebhookRefresh();
  const navigate = route.useNavigate();
  const { state, ...page } = route.useSearch();
  const [openId, setOpenId] = useState<string>();
  // The button that opened a delivery gets the focus back only if its cell is not rendered anew.
  const { id } = webhook;
  const columns = useMemo(() => columnsFor(id, store, setOpenId), [id, store]);
  const pages = useCursorPages<WebhookDelivery>({
    queryKey: ['webhooks', 'deliveries', webhook.id, state],
    isChanging,
    load: (cursor, signal) =>
      store.admin.webhooks.deliveries(
        webhook.id,
        { limit: 20, ...(state && { state }), ...(cursor && { cursor }) },
        { signal },
      ),
    position: useAddressPosition(page),
  });
  const filter = (chosen: typeof state) =>
    navigate({ search: chosen ? { state: chosen } : {}, resetScroll: false });
  return (
    <Panel
      title="Deliveries"
      description="Deliveries are kept for 30 days"
      actions={
        <Group gap="sm">
          <StatusFilter statuses={DELIVERY_STATES} value={state} onChange={filter} />
          <WebhookButton
            size="sm"
            disabled={webhook.paused}
            send={() => store.admin.webhooks.test(webhook.id)}
            onSent={(delivery) => {
              // To the first page of all deliveries, where the test is.
              void filter(undefined);
              void showTestResult(store, webhook.id, delivery.id).then(refresh);
            }}
            failure="The test event was not sent"
          >
            Send a test event
          </WebhookButton>
        </Group>
      }
    >
      <DataTable
        label="Deliveries of this webhook"
        columns={columns}
        pages={pages}
        minWidth={720}
        empty={
          <EmptyState icon={IconSend} title="No deliveries">
            {webhook.paused
              ? 'Resume the webhook to send events.'
              : 'Send a test event, or wait for the next of its events.'}
          </EmptyState>
        }
      />
      <DeliveryDrawer id={openId} listed={pages.items} onClose={() => setOpenId(undefined)} />
    </Panel>
  );
}

/** Returns whether a delivery may be in flight, or is sent soon. */
function isChanging(delivery: WebhookDelivery): boolean {
  const { state, lastAttemptAt } = delivery;
  const isInFlight = lastAttemptAt !== null && Date.parse(lastAttemptAt) > serviceNowMs() - IN_FLIGHT_MS;
  return isSentSoon(delivery) || (state === 'pending' && isInFlight);
}

function columnsFor(
  webhookId: string,
  store: AnimalStore,
  open: (id: string) => void,
): Column<WebhookDelivery>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      cell: ({ row: { original } }) => (
        <Anchor
          component="button"
          type="button"
          size="sm"
          fw={600}
          ta="start"
          onClick={() => open(original.id)}
        >
          {eventText(original.eventType)}
        </Anchor>
      ),
    },
    { id: 'queued', header: 'Queued', cell: ({ row }) => <Instant at={row.original.createdAt} toSecond /> },
    { id: 'state', header: 'State', cell: ({ row }) => <DeliveryState state={row.original.state} /> },
    { id: 'response', header: 'Response', cell: ({ row }) => row.original.responseStatus ?? '—' },
    {
      id: 'attempts',
      header: 'Attempts',
      cell: ({ row: { original } }) => (
        <Group gap="sm" wrap="nowrap" justify="space-between">
          <Attempts delivery={original} />
          {original.state !== 'pending' && (
            <WebhookButton
              size="compact-sm"
              send={() => store.admin.webhooks.resendDelivery(webhookId, original.id)}
              failure="It was not sent again"
            >
              Send again
            </WebhookButton>
          )}
        </Group>
      ),
    },
  ];
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  const { eventType, attempts, lastFailure, nextAttemptAt } = delivery;
  const isRepeated = eventType !== TEST_EVENT;
  return (
    <Stack gap={2}>
      <Text size="sm">
        {attempts}
        {nextAttemptAt !== null && attempts > 0 && isRepeated && (
          <>
            , next try in <Countdown untilMs={Date.parse(nextAttemptAt)} />
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
