import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Key } from 'animal-store-client';
import { AuditEventView } from '../audit-event/audit-event-view';
import { Loaded } from '../feedback/loaded';
import { DividedStack } from '../layout/divided-stack';
import { FoldingPanel } from '../layout/folding-panel';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { keyAuditQuery } from './key-query';

/** Shows the last actions on a key and its quota. */
export function KeyAuditPanel({ apiKey }: { apiKey: Pick<Key, 'id' | 'quotaId'> }) {
  const query = useQuery(keyAuditQuery(useStore(), apiKey));
  return (
    <FoldingPanel
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
            <Text size="sm" c="dimmed">
              The key has not been changed since it was issued.
            </Text>
          ) : (
            <DividedStack gap="sm">
              {entries.map((entry) => (
                <AuditEventView key={entry.id} entry={entry} />
              ))}
            </DividedStack>
          )
        }
      </Loaded>
    </FoldingPanel>
  );
}
