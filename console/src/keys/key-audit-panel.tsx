import { Skeleton } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Key } from 'animal-store-client';
import { AuditEventView } from '../audit-event/audit-event-view';
import { EmptyState } from '../feedback/empty-state';
import { Loaded } from '../feedback/loaded';
import { DividedStack } from '../layout/divided-stack';
import { Panel } from '../layout/panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { keyAuditQuery } from './key-query';

/** Shows the last actions on a key and its quota. */
export function KeyAuditPanel({ apiKey }: { apiKey: Pick<Key, 'id' | 'quotaId'> }) {
  const query = useQuery(keyAuditQuery(useStore(), apiKey));
  return (
    <Panel
      title="Audit"
      description="The last changes of this key and its quota"
      actions={
        <TextLink to="/admin/audit" search={{ keyId: apiKey.id, quotaId: apiKey.quotaId }} size="sm">
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
            <DividedStack gap="sm">
              {entries.map((entry) => (
                <AuditEventView key={entry.id} entry={entry} />
              ))}
            </DividedStack>
          )
        }
      </Loaded>
    </Panel>
  );
}
