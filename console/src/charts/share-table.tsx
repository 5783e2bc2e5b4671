import { Badge, Group, Progress, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { numberText } from '../format/number';
import { CardCell, CardTable } from '../table/card-table';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
/** The smallest share that is not rounded to nothing. */
const LEAST_SHARE = 0.001;

/** The requests of a range that belong together. */
export interface Share {
  id: string;
  /** Names it for screen readers. */
  name: string;
  label: ReactNode;
  requests: number;
  denied: number;
}

interface ShareTableProps {
  /** What the shares are of, such as "Operation". */
  header: string;
  shares: Share[];
  /** Says who sent no requests. */
  empty: string;
}

/** Shows shares of requests, and what part of all they are, one a line even on a phone. */
export function ShareTable({ header, shares, empty }: ShareTableProps) {
  const sum = shares.reduce((total, { requests }) => total + requests, 0);
  const label = `Requests by ${header.toLowerCase()}`;
  if (sum === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  }
  const headers = [header, 'Share', 'Requests', 'Denied'].map((title, index) => ({
    id: title,
    label: title,
    align: index > 1 ? ('right' as const) : ('left' as const),
  }));
  return (
    <CardTable label={label} headers={headers} minWidth={480} className="shares">
      {shares.map((share) => (
        <Row key={share.id} header={header} share={share} part={share.requests / sum} />
      ))}
    </CardTable>
  );
}

function Row({ header, share, part }: { header: string; share: Share; part: number }) {
  const { name, label, requests, denied } = share;
  return (
    <Table.Tr role="row">
      <CardCell label={header}>{label}</CardCell>
      <CardCell label="Share" className="share-cell">
        <Group gap="sm" wrap="nowrap">
          <Progress
            value={part * 100}
            color="forest.6"
            radius="xl"
            style={{ flex: 1 }}
            aria-label={`Share of ${name}`}
          />
          <Text size="sm" c="dimmed" w={56} ta="right">
            {partText(part)}
          </Text>
        </Group>
      </CardCell>
      <CardCell label="Requests" ta="right">
        {numberText(requests)}
      </CardCell>
      <CardCell label="Denied" ta="right">
        {numberText(denied)}
      </CardCell>
    </Table.Tr>
  );
}

/** Returns a share in per cent, such as "62.6%". What is there is never "0%". */
function partText(part: number): string {
  return part > 0 && part < LEAST_SHARE ? `<${percent.format(LEAST_SHARE)}` : percent.format(part);
}

/** Returns the share of an operation. */
export function operationShare(
  operation: string,
  deprecated: boolean,
  counts: Pick<Share, 'requests' | 'denied'>,
): Share {
  const name = operation === 'none' ? 'No operation (404, 405)' : operation;
  const label = (
    <Group gap={6}>
      <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
      {deprecated && (
        <Badge size="sm" color="orange" variant="light" miw="max-content">
          Deprecated
        </Badge>
      )}
    </Group>
  );
  return { ...counts, id: `${operation} ${deprecated}`, name, label };
}
