import { Group, ScrollArea, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Key, KeyWithUsage } from 'animal-store-client';
import { Loaded } from '../feedback/loaded';
import { MaskedKey } from '../format/masked-key';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { IssueOnQuota } from './issue-on-quota';
import { KeyBadges } from './key-badges';
import { KeyLink } from './key-link';
import { quotaKeysQuery } from './key-query';
import { isLive, VALID_KEYS_MAX } from './key-state';

/** Eight keys, and a part of the next. */
const LIST_MAX_HEIGHT = 440;

/** Lists the other keys on the quota of a key, those that are valid first, and issues another. */
export function QuotaKeysPanel({ apiKey }: { apiKey: KeyWithUsage }) {
  const query = useQuery(quotaKeysQuery(useStore(), apiKey.quotaId));
  return (
    <Panel
      title="Other keys on the quota"
      description="They share its limits, its counts and its ban"
      actions={isLive(apiKey) && <IssueOnQuota apiKey={apiKey} />}
    >
      <Loaded query={query} skeleton={<Skeleton height={160} radius="md" />}>
        {(keys) =>
          keys.every((each) => each.id === apiKey.id) ? (
            <Text size="sm" c="dimmed">
              No other keys
            </Text>
          ) : (
            <Stack gap="sm">
              <Text size="sm" c="dimmed">
                {keys.filter(isLive).length} of {VALID_KEYS_MAX} keys are in use
              </Text>
              <ScrollArea.Autosize
                mah={LIST_MAX_HEIGHT}
                type="auto"
                scrollbars="y"
                offsetScrollbars="present"
                viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Keys by state' }}
              >
                <Stack gap="sm">
                  {keys
                    .filter((each) => each.id !== apiKey.id)
                    .map((other) => (
                      <OtherKey
                        key={other.id}
                        other={other}
                        issuer={keys.find(({ id }) => id === other.issuerId)}
                      />
                    ))}
                </Stack>
              </ScrollArea.Autosize>
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface OtherKeyProps {
  other: Key;
  /** The key by which a holder issued it, if one did. */
  issuer: Key | undefined;
}

function OtherKey({ other, issuer }: OtherKeyProps) {
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <KeyLink id={other.id} apiKey={other}>
        {issuer !== undefined && (
          <>
            {' '}
            · issued by <bdi>{issuer.name}</bdi> <MaskedKey apiKey={issuer} />
          </>
        )}
      </KeyLink>
      <KeyBadges apiKey={{ ...other, bannedUntil: null }} />
    </Group>
  );
}
