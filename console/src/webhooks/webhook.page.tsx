import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Webhook } from 'animal-store-client';
import { Loaded } from '../feedback/loaded';
import { Instant } from '../format/instant';
import { UntrustedText } from '../format/untrusted-text';
import { Fact } from '../layout/fact';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { DeliveriesPanel } from './deliveries-panel';
import { eventText } from './event-texts';
import { hasFailed } from './is-failing';
import { isSentSoon } from './is-sent-soon';
import { WebhookActions } from './webhook-actions';
import { webhookQuery } from './webhook-query';
import { WebhookState } from './webhook-state';

/** Why a webhook is paused, in words. */
const PAUSE_REASONS: Record<string, string> = {
  administrator: 'by an administrator',
  gone: 'because the receiver responded with 410',
  failing: 'because no delivery succeeded for three days',
};

const RELOAD_MS = 2000;
const route = getRouteApi('/admin/webhooks/$id');

/** One webhook: what it receives, what was delivered, and what can be done with it. */
export function WebhookPage() {
  const { id } = route.useParams();
  return <OneWebhook key={id} id={id} />;
}

function OneWebhook({ id }: { id: string }) {
  const query = useQuery({
    ...webhookQuery(useStore(), id),
    refetchInterval: ({ state: { data } }) => (data && isSentSoon(data) ? RELOAD_MS : false),
  });
  if (query.data === null) {
    return (
      <Page title="There is no such webhook" description="It may have been deleted.">
        <TextLink to="/admin/webhooks">Show all webhooks</TextLink>
      </Page>
    );
  }
  const webhook = query.data;
  return (
    // With its title, which may need several lines, the page is another one: nothing that a reader saw moves.
    <Page
      key={webhook?.id}
      title={webhook?.url ?? 'Webhook'}
      description={<TextLink to="/admin/webhooks">Webhooks</TextLink>}
      {...(webhook !== undefined && {
        badge: <WebhookState webhook={webhook} />,
        actions: <WebhookActions webhook={webhook} />,
      })}
    >
      <Loaded query={query} skeleton={<Skeleton height={520} radius="lg" />}>
        {(loaded) =>
          loaded && (
            <Stack gap="lg">
              <FactsPanel webhook={loaded} />
              <DeliveriesPanel webhook={loaded} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

function FactsPanel({ webhook }: { webhook: Webhook }) {
  const { events, quotaId, lastDelivery, pausedAt, pauseReason, createdAt, previousSecretExpiresAt } =
    webhook;
  return (
    <Panel title="About">
      <Stack gap={6}>
        <Fact label="Events of">
          {quotaId === null ? (
            'Every quota'
          ) : (
            <TextLink to="/admin/keys" search={{ quotaId }} title={quotaId} inherit>
              Quota …{quotaId.slice(-8)}
            </TextLink>
          )}
        </Fact>
        <Fact label="Events">
          {events.map((type) => (
            <Text key={type} size="sm">
              {eventText(type)}
            </Text>
          ))}
        </Fact>
        {lastDelivery !== null && (
          <Fact label="Last result">
            {eventText(lastDelivery.eventType)}, <Instant at={lastDelivery.lastAttemptAt} toSecond />:{' '}
            {hasFailed(webhook) ? (
              <UntrustedText>{lastDelivery.lastFailure ?? ''}</UntrustedText>
            ) : (
              `delivered with ${lastDelivery.responseStatus}`
            )}
          </Fact>
        )}
        {pausedAt !== null && (
          <Fact label="Paused">
            since <Instant at={pausedAt} toSecond />, {PAUSE_REASONS[pauseReason ?? ''] ?? pauseReason}. No
            events are queued for it, and pending deliveries wait.
          </Fact>
        )}
        <Fact label="Created">
          <Instant at={createdAt} />
        </Fact>
        {previousSecretExpiresAt !== null && Date.parse(previousSecretExpiresAt) > Date.now() && (
          <Fact label="Old secret">
            signs too until <Instant at={previousSecretExpiresAt} />
          </Fact>
        )}
      </Stack>
    </Panel>
  );
}
