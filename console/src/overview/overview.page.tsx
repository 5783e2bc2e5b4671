import { Grid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { messageOf } from '../feedback/error-message';
import { ErrorNotice } from '../feedback/error-notice';
import { Page } from '../layout/page';
import { useOwnKey } from '../session/own-key';
import { useStore } from '../session/session';
import { DeprecationsPanel } from './deprecations-panel';
import { KeyPanel } from './key-panel';
import { LimitGauges } from './limit-gauges';
import { rateLimitQuery } from './rate-limit-query';
import { UsagePanel } from './usage-panel';

/** What a key holder wants to see first: what is left, what was used, and what needs attention. */
export function OverviewPage() {
  const key = useOwnKey();
  return (
    <Page title="Overview" description="The limits and the use of your API key">
      <Stack gap="lg">
        <Limits />
        <UsagePanel />
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 5 }}>
            {key.error !== null && key.data === undefined ? (
              <ErrorNotice key={key.errorUpdatedAt} error={key.error} retry={() => key.refetch()} />
            ) : key.data === undefined ? (
              <Skeleton height={300} radius="lg" />
            ) : (
              <KeyPanel ownKey={key.data} />
            )}
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 7 }}>
            <DeprecationsPanel />
          </Grid.Col>
        </Grid>
      </Stack>
    </Page>
  );
}

function Limits() {
  const status = useQuery(rateLimitQuery(useStore()));
  const { data } = status;
  if (status.error !== null && data === undefined) {
    return <ErrorNotice key={status.errorUpdatedAt} error={status.error} retry={() => status.refetch()} />;
  }
  return (
    <>
      {status.error !== null && (
        <Text size="sm" c="dimmed" role="status">
          Not up to date: {messageOf(status.error)}
        </Text>
      )}
      <LimitGauges status={data} onEnd={() => void status.refetch()} />
    </>
  );
}
