import { Stack, Text } from '@mantine/core';
import type { AuditEvent } from 'animal-store-client';
import { Fragment, type ReactNode } from 'react';
import { Instant } from '../format/instant';
import { numberText } from '../format/number';
import { UntrustedText } from '../format/untrusted-text';
import { TextLink } from '../layout/text-link';
import { eventText } from '../webhooks/event-texts';
import { type Change, listChanges, wasErased } from './audit-texts';

/** Says what an action created, or which fields it changed from what to what, one a line. */
export function Changes({ entry }: { entry: AuditEvent }) {
  const changes = listChanges(entry);
  if (wasErased(entry)) {
    return (
      <Text size="sm" c="dimmed">
        Erased with the customer
      </Text>
    );
  }
  if (entry.before === null) {
    return (
      <Text size="sm" component="div">
        {changes.map(({ name, label, none, after }, index) => (
          <Fragment key={name}>
            {index > 0 && '; '}
            {label}: <Value value={after} none={none} />
          </Fragment>
        ))}
      </Text>
    );
  }
  return (
    <Stack gap={2}>
      {changes.map((change) => (
        <Text key={change.name} size="sm" component="div">
          <ChangeText change={change} />
        </Text>
      ))}
    </Stack>
  );
}

function ChangeText({ change: { name, label, none, before, after } }: { change: Change }) {
  const from = <Value value={before} none={none} />;
  const to = <Value value={after} none={none} />;
  switch (name) {
    case 'successorId':
      return (
        <TextLink to="/admin/keys/$id" params={{ id: String(after) }} inherit>
          Replaced by another key
        </TextLink>
      );
    case 'revokedAt':
      return <>Stopped working on {to}</>;
    case 'suspendedAt':
      return after === null ? <>It had been suspended on {from}</> : <>Requests with it get 401 since {to}</>;
    case 'bannedUntil':
      return <>The ban would have ended on {from}</>;
    case 'previousSecretExpiresAt':
      return <>The old secret signs until {to}</>;
    default:
      return (
        <>
          {label} changed from {from} to {to}
        </>
      );
  }
}

function Value({ value, none }: { value: unknown; none: string }): ReactNode {
  if (value === null) {
    return none;
  }
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    return numberText(value);
  }
  if (Array.isArray(value) && value.length === 0) {
    return 'none';
  }
  if (Array.isArray(value)) {
    return <UntrustedText>{value.map((item) => eventText(String(item))).join(', ')}</UntrustedText>;
  }
  if (typeof value !== 'string') {
    return <UntrustedText>{JSON.stringify(value) ?? ''}</UntrustedText>;
  }
  return DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)) ? (
    <Instant at={value} />
  ) : (
    <UntrustedText>{value}</UntrustedText>
  );
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
