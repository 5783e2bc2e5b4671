import { Code, Table } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { numberText } from '../format/number';
import { UntrustedText } from '../format/untrusted-text';
import { useStore } from '../session/session';
import { TextLink } from '../layout/text-link';
import { ReportPanel } from './report-panel';
import { useReport } from './use-report';

const SHOWN = 10;

/** Lists the keys that still call deprecated operations. */
export function CallersPanel() {
  const store = useStore();
  const report = useReport(['callers'], (signal) =>
    store.admin.deprecations.list({ limit: SHOWN }, { signal }),
  );
  return (
    <ReportPanel
      title="Still calling deprecated operations"
      description="In the last 400 days"
      report={report}
      height={160}
    >
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState icon={IconCircleCheck} title="No key calls a deprecated operation" />
        ) : (
          <Table.ScrollContainer minWidth={520}>
            <Table aria-label="Callers of deprecated operations">
              <Table.Thead>
                <Table.Tr>
                  {['Operation', 'Key', 'Requests', 'Last'].map((header) => (
                    <Table.Th key={header} scope="col" fw={550} c="dimmed" fz="sm">
                      {header}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {items.map(({ operation, keyId, keyName, requests, lastAt }) => (
                  <Table.Tr key={`${operation} ${keyId}`}>
                    <Table.Td>
                      <Code>{operation}</Code>
                    </Table.Td>
                    <Table.Td>
                      <TextLink to="/admin/keys/$id" params={{ id: keyId }} size="sm">
                        <UntrustedText>{keyName ?? 'A deleted key'}</UntrustedText>
                      </TextLink>
                    </Table.Td>
                    <Table.Td>{numberText(requests)}</Table.Td>
                    <Table.Td>
                      <Instant at={lastAt} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </ReportPanel>
  );
}
