import { Badge, Stack, Text } from '@mantine/core';
import type { KeyWithUsage } from 'animal-store-client';
import { Instant } from '../format/instant';
import { RelativeInstant } from '../format/relative-instant';
import type { Column } from '../table/data-table';
import { KeyBadges } from './key-badges';
import { KeyLink } from './key-link';
import type { InTree } from './key-tree';
import { Sparkline } from './sparkline';

type KeyRow = InTree<KeyWithUsage>;

interface RowContext {
  row: { index: number; original: KeyRow };
  table: { getRowModel: () => { rows: { original: KeyRow }[] } };
}

/** Returns whether a key is on the quota of the row above, which then shows plan and ban for both. */
function isOnQuotaAbove({ row, table }: RowContext): boolean {
  return table.getRowModel().rows[row.index - 1]?.original.quotaId === row.original.quotaId;
}

/** The columns of the list of keys. */
export const KEY_COLUMNS: Column<KeyRow>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row }) => <Name apiKey={row.original} />,
  },
  {
    id: 'plan',
    header: 'Plan',
    cell: (context) =>
      isOnQuotaAbove(context) ? (
        <Text component="span" size="xs" c="dimmed" className="one-line">
          Same quota
        </Text>
      ) : (
        <Badge variant="light" tt="none" fw={550} miw="max-content">
          {context.row.original.plan}
        </Badge>
      ),
  },
  {
    id: 'state',
    header: 'State',
    cell: (context) => {
      const { original } = context.row;
      return <KeyBadges apiKey={isOnQuotaAbove(context) ? { ...original, bannedUntil: null } : original} />;
    },
  },
  {
    id: 'requests',
    header: 'Last 24 hours',
    cell: ({ row }) => <Sparkline requests={row.original.recentUsage.map(({ requests }) => requests)} />,
  },
  {
    id: 'lastUsed',
    header: 'Last used',
    cell: ({ row }) => (
      <Text component="span" size="sm" className="one-line">
        <RelativeInstant at={row.original.lastUsedAt} />
      </Text>
    ),
  },
  {
    id: 'expires',
    header: 'Expires',
    cell: ({ row }) => (
      <Text component="span" size="sm" className="one-line">
        <Instant at={row.original.expiresAt} dateOnly />
      </Text>
    ),
  },
];

/** The levels that have room beside the other columns. */
const INDENTED_MAX = 3;
const INDENT_PX = 16;

/** Shows the name of a key, indented below the key that issued it. */
function Name({ apiKey }: { apiKey: KeyRow }) {
  const { id, externalId, note, depth } = apiKey;
  return (
    <Stack gap={2} maw={220} className="name-cell" pl={INDENT_PX * Math.min(depth, INDENTED_MAX)}>
      <KeyLink id={id} apiKey={apiKey} />
      {externalId !== null && (
        <Text size="xs" truncate title={`External ID ${externalId}`}>
          <bdi>{externalId}</bdi>
        </Text>
      )}
      {note !== null && (
        <Text size="xs" c="dimmed" truncate title={note}>
          <bdi>{note}</bdi>
        </Text>
      )}
    </Stack>
  );
}
