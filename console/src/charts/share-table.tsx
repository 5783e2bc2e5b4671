import { Badge, Group, Progress, Table, Text } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { numberText } from '../format/number';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** The requests of a range that belong together. */
export interface Share {
  id: string;
  /** Names it for readers of the screen. */
  name: string;
  label: ReactNode;
  requests: number;
  refusals: number;
}

interface ShareTableProps {
  /** What the shares are of, such as "Operation". */
  header: string;
  shares: Share[];
  /** Says who sent no requests. */
  empty: string;
}

/** Shows shares of requests, and what part of all they are. */
export function ShareTable({ header, shares, empty }: ShareTableProps) {
  const sum = shares.reduce((total, { requests }) => total + requests, 0);
  const label = `Requests by ${header.toLowerCase()}`;
  if (sum === 0) {
    return (
      <EmptyState icon={IconActivity} title="No requests">
        {empty}
      </EmptyState>
    );
  }
  return (
    <Table.ScrollContainer
      minWidth={480}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {[header, 'Share', 'Requests', 'Refusals'].map((title) => (
              <Table.Th key={title} scope="col" fw={550} c="dimmed" fz="sm">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shares.map((share) => (
            <Row key={share.id} share={share} part={share.requests / sum} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({ share: { name, label, requests, refusals }, part }: { share: Share; part: number }) {
  return (
    <Table.Tr>
      <Table.Td fz="sm">{label}</Table.Td>
      <Table.Td w="40%">
        <Group gap="sm" wrap="nowrap">
          <Progress
            value={part * 100}
            color="forest.6"
            radius="xl"
            style={{ flex: 1 }}
            aria-label={`Share of ${name}`}
          />
          <Text size="sm" c="dimmed" w={56} ta="right">
            {percent.format(part)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td fz="sm">{numberText(requests)}</Table.Td>
      <Table.Td fz="sm">{numberText(refusals)}</Table.Td>
    </Table.Tr>
  );
}

/** Returns the share of an operation. */
export function operationShare(
  operation: string,
  deprecated: boolean,
  counts: Pick<Share, 'requests' | 'refusals'>,
): Share {
  const name = operation === 'none' ? 'No operation (404, 405)' : operation;
  const label = (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" fw={550}>
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
