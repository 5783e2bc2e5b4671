import { Badge, Group, Tooltip } from '@mantine/core';
import type { Key } from 'animal-store-client';
import { Countdown } from '../feedback/countdown';

const COLORS: Record<Key['state'], string> = {
  active: 'forest.6',
  rotating: 'orange.6',
  suspended: 'violet.6',
  expired: 'gray.6',
  revoked: 'red.6',
};

/** Shows the state of a key, its ban, and whether it is an administrator's. */
export function KeyBadges({ apiKey }: { apiKey: Pick<Key, 'state' | 'bannedUntil' | 'role'> }) {
  const { state, bannedUntil, role } = apiKey;
  return (
    <Group gap={6} className="one-line-group">
      {/* A banned key is not shown as active. */}
      {(bannedUntil === null || state !== 'active') && (
        <Badge variant="dot" color={COLORS[state] ?? 'gray.6'} tt="capitalize" fw={550}>
          {state}
        </Badge>
      )}
      {bannedUntil !== null && (
        <Tooltip
          label={
            <>
              The ban ends in <Countdown untilMs={Date.parse(bannedUntil)} />
            </>
          }
        >
          <Badge color="red.8" tabIndex={0} tt="none" fw={600}>
            Banned
          </Badge>
        </Tooltip>
      )}
      {role === 'admin' && (
        <Badge variant="outline" tt="none" fw={600}>
          Admin
        </Badge>
      )}
    </Group>
  );
}
