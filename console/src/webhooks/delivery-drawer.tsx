import { Code, Drawer, Stack, Text, Title } from '@mantine/core';
import type { WebhookDelivery } from 'animal-store-client';
import { type ReactNode, useId } from 'react';
import { useLastDefined } from '../feedback/use-last-defined';
import { Instant } from '../format/instant';
import { UntrustedText } from '../format/untrusted-text';
import { Fact } from '../layout/fact';
import { DeliveryState } from './delivery-state';
import { eventText } from './event-texts';

interface DeliveryDrawerProps {
  /** Identifies the delivery to show; the drawer is closed if it is undefined. */
  id: string | undefined;
  /** The shown page of the list. A delivery that is no longer on it stays as it was. */
  listed: WebhookDelivery[];
  onClose: () => void;
}

/** Shows one delivery: what is sent, and what the receiver responded. */
export function DeliveryDrawer({ id, listed, onClose }: DeliveryDrawerProps) {
  const shown = useLastDefined(listed.find((delivery) => delivery.id === id));
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title="Delivery"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {shown !== undefined && <Delivery delivery={shown} />}
    </Drawer>
  );
}

function Delivery({ delivery }: { delivery: WebhookDelivery }) {
  const { eventId, eventType, state, attempts, createdAt, lastAttemptAt, lastFailure, payload } = delivery;
  return (
    <Stack gap="xl">
      <Stack gap={6}>
        <Fact label="Event">{eventText(eventType)}</Fact>
        <Fact label="State">
          <DeliveryState state={state} />
        </Fact>
        {lastFailure !== null && (
          <Fact label="Last failure">
            <UntrustedText>{lastFailure}</UntrustedText>
          </Fact>
        )}
        <Fact label="Attempts">{attempts}</Fact>
        <Fact label="Queued">
          <Instant at={createdAt} toSecond />
        </Fact>
        {lastAttemptAt !== null && (
          <Fact label="Last sent">
            <Instant at={lastAttemptAt} toSecond />
          </Fact>
        )}
        <Fact label="webhook-id">{eventId}</Fact>
      </Stack>
      <Section title="Response">
        <Response delivery={delivery} />
      </Section>
      <Section title="Payload">
        <Body>{JSON.stringify(payload, null, 2)}</Body>
      </Section>
    </Stack>
  );
}

function Response({ delivery: { responseStatus, responseBody } }: { delivery: WebhookDelivery }) {
  if (responseStatus === null) {
    return (
      <Text size="sm" c="dimmed">
        None yet
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        Status {responseStatus}
        {responseBody ? '' : ', without a body'}
      </Text>
      {responseBody && <Body>{responseBody}</Body>}
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={2} id={id} mb="sm">
        {title}
      </Title>
      {children}
    </section>
  );
}

/** Shows a body as the text that it is, and wraps it, so that it needs no scrolling of its own. */
function Body({ children }: { children: string }) {
  return (
    <Code block style={{ whiteSpace: 'pre-wrap' }}>
      <UntrustedText>{children}</UntrustedText>
    </Code>
  );
}
