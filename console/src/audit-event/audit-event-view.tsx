import { Group, Stack, Text } from '@mantine/core';
import type { AuditEvent } from 'animal-store-client';
import { Instant } from '../format/instant';
import { ActorText } from './actor-text';
import { actionText } from './audit-texts';
import { Changes } from './changes';

/** Shows an entry of the audit: what was done, by whom, when, and what it changed. */
export function AuditEventView({ entry }: { entry: AuditEvent }) {
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {actionText(entry)}
        </Text>
        <Text size="sm" c="dimmed" component="div">
          <Instant at={entry.createdAt} />, by <ActorText actor={entry.actor} />
        </Text>
      </Group>
      <Changes entry={entry} />
    </Stack>
  );
}
