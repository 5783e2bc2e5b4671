import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import type { Webhook, WebhookWithSecret } from 'animal-store-client';
import { useRef, useState } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { ScopedButton } from '../form/scoped-button';
import { Instant } from '../format/instant';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { type Column, DataTable } from '../table/data-table';
import { useCursorPages } from '../table/use-cursor-pages';
import { eventText } from './event-texts';
import { isSentSoon } from './is-sent-soon';
import { NewWebhookDialog } from './new-webhook-dialog';
import { useWebhookRefresh } from './webhook-query';
import { WebhookSecretDialog } from './webhook-secret-dialog';
import { WebhookState } from './webhook-state';

const COLUMNS: Column<Webhook>[] = [
  {
    id: 'url',
    header: 'URL',
    cell: ({ row: { original } }) => (
      <TextLink
        to="/admin/webhooks/$id"
        params={{ id: original.id }}
        size="sm"
        fw={600}
        maw={220}
        truncate
        title={original.url}
      >
        {original.url}
      </TextLink>
    ),
  },
  { id: 'state', header: 'State', cell: ({ row: { original } }) => <WebhookState webhook={original} /> },
  {
    id: 'events',
    header: 'Events',
    cell: ({ row: { original } }) => (
      <Text component="div" size="sm" className="name-cell">
        {original.events.map(eventText).join('; ')}
      </Text>
    ),
  },
  {
    id: 'quota',
    header: 'Events of',
    cell: ({ row: { original } }) =>
      original.quotaId === null ? (
        <span className="one-line">Every quota</span>
      ) : (
        <TextLink to="/admin/keys" search={{ quotaId: original.quotaId }} title={original.quotaId} inherit>
          Quota …{original.quotaId.slice(-8)}
        </TextLink>
      ),
  },
  {
    id: 'last',
    header: 'Last result',
    cell: ({ row: { original } }) => <LastResult webhook={original} />,
  },
  {
    id: 'created',
    header: 'Created',
    cell: ({ row: { original } }) => <Instant at={original.createdAt} dateOnly />,
  },
];

function LastResult({ webhook: { lastDelivery } }: { webhook: Webhook }) {
  if (lastDelivery === null) {
    return 'None yet';
  }
  const { state, responseStatus, lastAttemptAt } = lastDelivery;
  return (
    <>
      {state === 'delivered' ? 'Delivered' : 'Failed'}: {responseStatus ?? 'no response'}
      <Text size="xs" c="dimmed" className="time-cell">
        <Instant at={lastAttemptAt} toSecond />
      </Text>
    </>
  );
}

/** Lists the webhooks, and creates one. */
export function WebhooksPage() {
  const store = useStore();
  const refresh = useWebhookRefresh();
  const [isCreating, creating] = useDisclosure(false);
  const [created, setCreated] = useState<WebhookWithSecret | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const pages = useCursorPages({
    queryKey: ['webhooks', 'list'],
    load: (cursor, signal) => store.admin.webhooks.list({ limit: 20, ...(cursor && { cursor }) }, { signal }),
    isChanging: isSentSoon,
  });
  const forgetCreated = () => {
    setCreated(null);
    opener.current?.focus();
    refresh();
  };
  return (
    <Page
      title="Webhooks"
      description="Endpoints notified of limits, bans and key changes"
      actions={
        <ScopedButton
          scope="admin:write"
          ref={opener}
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={creating.open}
        >
          New webhook
        </ScopedButton>
      }
    >
      <Panel>
        <DataTable
          label="Webhooks"
          columns={COLUMNS}
          pages={pages}
          minWidth={880}
          empty={
            <EmptyState icon={IconWebhook} title="No webhooks yet">
              Create one to send events to a program of yours.
            </EmptyState>
          }
        />
      </Panel>
      <NewWebhookDialog
        opened={isCreating}
        onSent={(webhook) => {
          creating.close();
          setCreated(webhook);
        }}
        onClose={creating.close}
      />
      <WebhookSecretDialog secret={created?.secret ?? null} onClose={forgetCreated} />
    </Page>
  );
}
