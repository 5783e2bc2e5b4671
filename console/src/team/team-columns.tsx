import { Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import type { FurtherKey } from 'animal-store-client';
import type { ReactNode } from 'react';
import { Instant } from '../format/instant';
import { MaskedKey } from '../format/masked-key';
import { RelativeInstant } from '../format/relative-instant';
import { KeyBadges } from '../keys/key-badges';
import { isLive } from '../keys/key-state';
import type { Column } from '../table/data-table';

/**
 * The columns of the list of a team's keys.
 *
 * @param ownId the id of the signed-in key.
 * @param revoke asks whether to revoke a key.
 */
export function teamColumns(ownId: string, revoke: (key: FurtherKey) => void): Column<FurtherKey>[] {
  return [
    { id: 'name', header: 'Name', cell: ({ row }) => <Name apiKey={row.original} /> },
    {
      id: 'scopes',
      header: 'Scopes',
      cell: ({ row }) => <Lines items={row.original.scopes} all="All of its role" />,
    },
    {
      id: 'networks',
      header: 'Networks',
      cell: ({ row }) => <Lines items={row.original.allowedNetworks} all="Anywhere" />,
    },
    {
      id: 'state',
      header: 'State',
      cell: ({ row: { original } }) => (
        <KeyBadges apiKey={{ state: original.state, bannedUntil: null, role: 'client' }} />
      ),
    },
    {
      id: 'expires',
      header: 'Expires',
      cell: ({ row }) => (
        <Line>
          <Instant at={row.original.expiresAt} dateOnly />
        </Line>
      ),
    },
    {
      id: 'lastUsed',
      header: 'Last used',
      cell: ({ row }) => (
        <Line>
          <RelativeInstant at={row.original.lastUsedAt} />
        </Line>
      ),
    },
    {
      id: 'issuerId',
      header: 'Issued by',
      cell: ({ row }) => <Line>{row.original.issuerId === ownId ? 'Your key' : 'Another key'}</Line>,
    },
    {
      id: 'revoke',
      header: () => <VisuallyHidden>Actions</VisuallyHidden>,
      cell: ({ row: { original } }) =>
        isLive(original) && (
          <Button
            // The focus must not return to this button once another key is in the row.
            key={original.id}
            size="compact-sm"
            variant="light"
            color="red"
            aria-label={`Revoke ${original.name}`}
            onClick={() => revoke(original)}
          >
            Revoke
          </Button>
        ),
    },
  ];
}

function Name({ apiKey }: { apiKey: FurtherKey }) {
  const { name } = apiKey;
  return (
    <Stack gap={2} maw={200} className="name-cell">
      <Text size="sm" fw={600} truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
      <Text size="xs" c="dimmed">
        <MaskedKey apiKey={apiKey} />
      </Text>
    </Stack>
  );
}

/** Shows what a key is restricted to, one a line; `all` if it is not. */
function Lines({ items, all }: { items: string[] | null; all: string }) {
  return (
    <Stack gap={0}>
      {items?.length === 0 && <Line>None</Line>}
      {(items ?? [all]).map((item) => (
        <Line key={item}>{item}</Line>
      ))}
    </Stack>
  );
}

function Line({ children }: { children: ReactNode }) {
  return (
    <Text component="span" size="sm" className="one-line">
      {children}
    </Text>
  );
}
