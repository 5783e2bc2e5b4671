import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react';
import { RateLimitError } from 'animal-store-client';
import { useState } from 'react';
import { Countdown } from './countdown';
import { errorMessage } from './error-message';
import { isBan, limitEndMs } from './limit-error';

/** Has what a notice needs of a query that failed. */
export interface FailureProps {
  error: Error;
  /** Is when it failed, in milliseconds since the Unix epoch. */
  at: number;
  /** Loads again; the notice calls it once a limit allows it. */
  retry: () => unknown;
}

/** Shows in the place of its content why it could not be loaded, and when it will be. */
export function ErrorNotice({ error, at, retry }: FailureProps) {
  return error instanceof RateLimitError ? (
    <LimitNotice key={at} error={error} at={at} retry={retry} />
  ) : (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="This could not be loaded" role="alert">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{errorMessage(error)}</Text>
        <Button size="xs" variant="default" onClick={() => void retry()}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}

function LimitNotice({ error, at, retry }: FailureProps & { error: RateLimitError }) {
  const [untilMs] = useState(() => limitEndMs(error, at));
  return (
    <Alert
      color="orange"
      icon={<IconClockPause aria-hidden />}
      title={isBan(error) ? 'This key is banned' : 'The rate limit is reached'}
      role="status"
    >
      <Text size="sm">
        {isBan(error) ? 'The ban ends in ' : 'The next request is allowed in '}
        <Countdown untilMs={untilMs} onEnd={() => void retry()} />. The page then loads by itself.
      </Text>
    </Alert>
  );
}
