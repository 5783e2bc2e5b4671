import { Table, Text } from '@mantine/core';
import { Instant } from '../format/instant';
import type { Explanation } from './headers/catalogue';
import { explainHeaders } from './headers/explain';
import { inline } from './prose';

interface HeaderTableProps {
  headers: [name: string, value: string][];
  /** How the document of the operation describes headers. */
  documented: Record<string, string>;
}

/** All headers of a response, each with its value and what it means. */
export function HeaderTable({ headers, documented }: HeaderTableProps) {
  return (
    <Table aria-label="Response headers" className="try-headers" layout="fixed" role="table">
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {['Header', 'Meaning'].map((title) => (
            <Table.Th key={title} scope="col" role="columnheader" fw={550} c="dimmed" fz="sm">
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      {explainHeaders(headers, documented).map((group) => (
        <Table.Tbody key={group.title} role="rowgroup">
          <Table.Tr role="row">
            <Table.Th colSpan={2} scope="rowgroup" role="rowheader" className="try-header-group">
              {group.title}
            </Table.Th>
          </Table.Tr>
          {group.headers.map(({ name, value, explanation }) => (
            <Table.Tr key={name} role="row">
              <Table.Td role="cell">
                <Text size="sm" fw={600}>
                  {name}
                </Text>
                <Text size="xs" className="try-value">
                  {value}
                </Text>
              </Table.Td>
              <Table.Td role="cell">
                <Meaning explanation={explanation} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      ))}
    </Table>
  );
}

function Meaning({ explanation }: { explanation: Explanation }) {
  return (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      {explanation.map((part) =>
        typeof part === 'string' ? inline(part) : <Instant key={part.getTime()} at={part.toISOString()} />,
      )}
    </Text>
  );
}
