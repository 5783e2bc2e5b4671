import { Group, Stack, Text } from '@mantine/core';
import { Countdown } from '../feedback/countdown';
import { KeyLink } from '../keys/key-link';
import { useStore } from '../session/session';
import { TextLink } from '../layout/text-link';
import { ReportPanel } from './report-panel';
import { useReport } from './use-report';

const SHOWN = 10;

/** Lists the keys that are banned now. */
export function BansPanel() {
  const store = useStore();
  const report = useReport(['bans'], (signal) =>
    store.admin.keys.list({ banned: true, limit: SHOWN }, { signal }),
  );
  return (
    <ReportPanel title="Banned now" report={report} loading={120}>
      {({ items, nextCursor }) =>
        items.length === 0 ? (
          <Text size="sm" c="dimmed">
            No key is banned
          </Text>
        ) : (
          <Stack gap="sm">
            {items.map((apiKey) => (
              <Group key={apiKey.id} justify="space-between" gap="md" wrap="nowrap">
                <KeyLink id={apiKey.id} apiKey={apiKey} />
                {apiKey.bannedUntil !== null && (
                  <Text size="sm" style={{ flexShrink: 0 }}>
                    <Countdown untilMs={Date.parse(apiKey.bannedUntil)} onEnd={() => void report.refetch()} />
                  </Text>
                )}
              </Group>
            ))}
            {nextCursor !== null && (
              <TextLink to="/admin/keys" search={{ banned: 'yes' }} size="sm">
                All banned keys
              </TextLink>
            )}
          </Stack>
        )
      }
    </ReportPanel>
  );
}
