import { Divider, Skeleton, Stack } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { AuditEventView } from '../../audit-event/audit-event-view';
import { EmptyState } from '../../feedback/empty-state';
import { Loaded } from '../../feedback/loaded';
import { Panel } from '../../layout/panel';
import { TextLink } from '../../layout/text-link';
import { useStore } from '../../session/session';
import { keyAuditQuery } from '../key-query';

/** Shows what administrators last did with a key. */
export function KeyAuditPanel({ id }: { id: string }) {
  const query = useQuery(keyAuditQuery(useStore(), id));
  return (
    <Panel
      title="Audit"
      description="The last changes of this key"
      actions={
        <TextLink to="/admin/audit" search={{ key: id }} size="sm">
          Show in the audit
        </TextLink>
      }
    >
      <Loaded query={query} skeleton={<Skeleton height={200} radius="md" />}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState icon={IconHistory} title="No changes">
              The key has not been changed since it was issued.
            </EmptyState>
          ) : (
            <Stack gap="sm">
              {entries.map((entry, index) => (
                <Stack key={entry.id} gap="sm">
                  {index > 0 && <Divider />}
                  <AuditEventView entry={entry} />
                </Stack>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}
