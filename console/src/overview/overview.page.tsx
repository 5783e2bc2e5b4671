import { Grid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ErrorNotice } from '../feedback/error-notice';
import { Loaded } from '../feedback/loaded';
import { waitFor } from '../feedback/wait';
import { Page } from '../layout/page';
import { Panel } from '../layout/panel';
import { useOwnKey } from '../session/own-key';
import { useStore } from '../session/session';
import { DeprecationsPanel } from './deprecations-panel';
import { KeyPanel } from './key-panel';
import { LimitGauges } from './limit-gauges';
import { rateLimitQuery } from './rate-limit-query';
import { ReplaceLeakedKey } from './replace-leaked-key';
import { UsagePanel } from './usage-panel';

/** What a key holder wants to see first: remaining limits, usage, and what needs attention. */
export function OverviewPage() {
  const key = useOwnKey();
  const status = useQuery(rateLimitQuery(useStore()));
  // Then nothing else can be loaded before the ban ends, and the limits say so.
  const isBanned = key.data === undefined && typeof status.data?.bannedUntil === 'string';
  // One notice stands for all panels, none of which can be loaded before.
  const isWaiting = key.isLoadingError && waitFor(key.error) !== null;
  return (
    <Page title="Overview" description="The limits and the use of your API key">
      <Stack gap="lg">
        <LimitGauges query={status} onEnd={() => void status.refetch()} />
        {typeof status.data?.bannedUntil === 'string' && (
          <Panel title="Why this happened">
            <Text size="sm">
              Too many requests followed a 429 within one minute. Each further ban lasts longer than the one
              before. Each 24 hours without a ban shorten the next by one level. To avoid another ban, wait
              for Retry-After after each 429, and spread your requests over the minute.
            </Text>
          </Panel>
        )}
        {isBanned ? (
          <Panel title="Did you send these requests?">
            <Stack gap="sm" align="flex-start">
              <Text size="sm">
                If not, the key may have leaked. You can replace it now, even during a ban. The new key has
                the same limits and the same ban.
              </Text>
              <ReplaceLeakedKey />
            </Stack>
          </Panel>
        ) : isWaiting ? (
          <ErrorNotice error={key.error} at={key.errorUpdatedAt} retry={key.refetch} />
        ) : (
          <>
            <UsagePanel />
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, lg: 5 }}>
                <Loaded query={key} skeleton={<Skeleton height={300} radius="lg" />}>
                  {(ownKey) => <KeyPanel ownKey={ownKey} />}
                </Loaded>
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 7 }}>
                <DeprecationsPanel />
              </Grid.Col>
            </Grid>
          </>
        )}
      </Stack>
    </Page>
  );
}
