import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react';
import { BannedError, RateLimitError } from 'animal-store-client';
import { useState } from 'react';
import { Countdown } from './countdown';
import { messageOf } from './error-message';

interface ErrorNoticeProps {
  error: Error;
  /** Loads again; called by itself once a limit allows it. */
  retry: () => unknown;
}

/** Says in the place of its content why it could not be loaded, and when it will be. */
export function ErrorNotice({ error, retry }: ErrorNoticeProps) {
  return error instanceof RateLimitError ? (
    <LimitNotice error={error} retry={retry} />
  ) : (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="This could not be loaded" role="alert">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{messageOf(error)}</Text>
        <Button size="xs" variant="default" onClick={() => void retry()}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}

function LimitNotice({ error, retry }: { error: RateLimitError; retry: () => unknown }) {
  // The time of the response, which the countdown counts from.
  const [untilMs] = useState(() => Date.now() + (error.retryAfterMs ?? 60_000));
  const isBan = error instanceof BannedError;
  return (
    <Alert
      color="orange"
      icon={<IconClockPause aria-hidden />}
      title={isBan ? 'This key is banned' : 'The rate limit is reached'}
      role="status"
    >
      <Text size="sm">
        {isBan ? 'The ban ends in ' : 'The next request is allowed in '}
        <Countdown untilMs={untilMs} onEnd={() => void retry()} />. The page then loads by itself.
      </Text>
    </Alert>
  );
}
