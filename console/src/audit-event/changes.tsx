import { Group, Text } from '@mantine/core';
import type { AuditEvent } from 'animal-store-client';
import { Instant } from '../format/instant';
import { numberText } from '../format/number';
import { UntrustedText } from '../format/untrusted-text';
import { type Change, listChanges } from './audit-texts';
import { Subject } from './subject';

/** Lists the fields that an action changed, from what to what. */
export function Changes({ entry }: { entry: AuditEvent }) {
  return (
    <Group gap="2px 12px">
      {listChanges(entry).map((change) => (
        <ChangeText key={change.name} change={change} />
      ))}
    </Group>
  );
}

function ChangeText({ change: { name, label, before, after } }: { change: Change }) {
  return (
    <Text size="sm" component="div">
      <Text span inherit c="dimmed">
        {label}:{' '}
      </Text>
      {before !== undefined && (
        <>
          <Value value={before} /> →{' '}
        </>
      )}
      {name === 'successorId' ? <Subject subject={`key:${String(after)}`} /> : <Value value={after} />}
    </Text>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null) {
    return 'none';
  }
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    return numberText(value);
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
