import { Badge, Group, Progress, Table, Text } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import type { OperationUsage } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { numberText } from '../format/number';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** Shows the requests for each operation, and their share of all. */
export function OperationShares({ operations }: { operations: OperationUsage[] }) {
  const sum = operations.reduce((total, { requests }) => total + requests, 0);
  if (sum === 0) {
    return (
      <EmptyState icon={IconActivity} title="No requests">
        The key sent none in this range.
      </EmptyState>
    );
  }
  return (
    <Table.ScrollContainer
      minWidth={480}
      scrollAreaProps={{
        viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Requests by operation' },
      }}
    >
      <Table aria-label="Requests by operation">
        <Table.Thead>
          <Table.Tr>
            {['Operation', 'Share', 'Requests', 'Refusals'].map((header) => (
              <Table.Th key={header} scope="col" fw={550} c="dimmed" fz="sm">
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {operations.map((usage) => (
            <Operation
              key={`${usage.operation} ${usage.deprecated}`}
              usage={usage}
              share={usage.requests / sum}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Operation({ usage, share }: { usage: OperationUsage; share: number }) {
  const { operation, deprecated, requests, refusals } = usage;
  const name = operation === 'none' ? 'No operation (404, 405)' : operation;
  return (
    <Table.Tr>
      <Table.Td>
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
      </Table.Td>
      <Table.Td w="40%">
        <Group gap="sm" wrap="nowrap">
          <Progress
            value={share * 100}
            color="forest.6"
            radius="xl"
            style={{ flex: 1 }}
            aria-label={`Share of ${name}`}
          />
          <Text size="sm" c="dimmed" w={56} ta="right">
            {percent.format(share)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td fz="sm">{numberText(requests)}</Table.Td>
      <Table.Td fz="sm">{numberText(refusals)}</Table.Td>
    </Table.Tr>
  );
}
