import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react';
import { PermissionDeniedError } from 'animal-store-client';
import { useState } from 'react';
import { Countdown } from './countdown';
import { ErrorText, RequestReference } from './request-reference';
import { waitEndMs, waitFor } from './wait';

/** What a notice needs of a query that failed. */
export interface FailureProps {
  error: Error;
  /** Is when it failed, in milliseconds since the Unix epoch. */
  at: number;
  /** Loads again; the notice calls it once the service allows it. */
  retry: () => unknown;
}

/** Shows, instead of its content, why it could not be loaded and when it will be. */
export function ErrorNotice({ error, at, retry }: FailureProps) {
  return waitFor(error) === null ? (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="This could not be loaded" role="alert">
      <Group justify="space-between" gap="sm">
        <div>
          <ErrorText error={error} />
        </div>
        {!(error instanceof PermissionDeniedError) && (
          <Button size="xs" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  ) : (
    <WaitNotice key={at} error={error} at={at} retry={retry} />
  );
}

function WaitNotice({ error, at, retry }: FailureProps) {
  const [untilMs] = useState(() => waitEndMs(error, at));
  const wait = waitFor(error);
  return (
    <Alert color="orange" icon={<IconClockPause aria-hidden />} title={wait?.title} role="status">
      <Text size="sm">
        {wait?.until} <Countdown untilMs={untilMs} onEnd={() => void retry()} />. This page will then reload.
      </Text>
      <RequestReference error={error} />
    </Alert>
  );
}
