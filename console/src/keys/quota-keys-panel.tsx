import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Key } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { Loaded } from '../feedback/loaded';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { KeyBadges } from './key-badges';
import { quotaKeysQuery } from './key-query';

/** Lists the other keys on the quota of a key. */
export function QuotaKeysPanel({ apiKey: { id, quotaId } }: { apiKey: Pick<Key, 'id' | 'quotaId'> }) {
  const query = useQuery(quotaKeysQuery(useStore(), quotaId));
  return (
    <Panel
      title="Other keys on the quota"
      description="They share its limits, its counts and its ban"
      h="100%"
    >
      <Loaded query={query} skeleton={<Skeleton height={160} radius="md" />}>
        {(keys) =>
          keys.every((each) => each.id === id) ? (
            <EmptyState icon={IconKey} title="None">
              A rotation puts a successor here.
            </EmptyState>
          ) : (
            <Stack gap="sm">
              {keys
                .filter((each) => each.id !== id)
                .map((other) => (
                  <OtherKey key={other.id} other={other} />
                ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

function OtherKey({ other }: { other: Key }) {
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <div style={{ minWidth: 0 }}>
        <TextLink
          to="/admin/keys/$id"
          params={{ id: other.id }}
          size="sm"
          fw={600}
          underline="hover"
          truncate
          display="block"
        >
          <bdi>{other.name}</bdi>
        </TextLink>
        <Text size="xs" c="dimmed" ff="monospace">
          {other.prefix}…{other.lastFour}
        </Text>
      </div>
      <KeyBadges apiKey={{ ...other, bannedUntil: null }} />
    </Group>
  );
}
