import { Badge, Group, Stack, Text } from '@mantine/core';
import { IconServer } from '@tabler/icons-react';
import type { Replica } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { Instant } from '../format/instant';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';
import { ReportPanel } from './report-panel';
import { useReport } from './use-report';

/** Three heartbeats. */
const SILENT_MS = 15_000;

/** Lists the replicas, and which of them count locally because the counter store is away. */
export function ReplicasPanel() {
  const store = useStore();
  const report = useReport(['replicas'], async (signal) => ({
    replicas: await store.admin.replicas.list({ signal }),
    readMs: serviceNowMs(),
  }));
  return (
    <ReportPanel title="Replicas" report={report} loading={120}>
      {({ replicas, readMs }) =>
        replicas.length === 0 ? (
          <EmptyState icon={IconServer} title="No replica has reported yet" />
        ) : (
          <Stack gap="sm">
            {replicas.map((replica) => (
              <Group key={replica.id} justify="space-between" gap="md" wrap="nowrap">
                <Text size="sm" truncate>
                  {replica.host}
                  <Text component="span" inherit c="dimmed">
                    {' '}
                    · since <Instant at={replica.startedAt} />
                  </Text>
                </Text>
                <State replica={replica} readMs={readMs} />
              </Group>
            ))}
          </Stack>
        )
      }
    </ReportPanel>
  );
}

function State({ replica: { seenAt, countsLocallySince }, readMs }: { replica: Replica; readMs: number }) {
  if (readMs - Date.parse(seenAt) > SILENT_MS) {
    return (
      <Text size="sm" c="dimmed">
        Silent since <Instant at={seenAt} />
      </Text>
    );
  }
  return countsLocallySince === null ? (
    <Badge variant="light">Counts together</Badge>
  ) : (
    <Text size="sm">
      <Badge variant="light" color="orange">
        Counts locally
      </Badge>{' '}
      since <Instant at={countsLocallySince} />
    </Text>
  );
}
