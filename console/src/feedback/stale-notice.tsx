import { Anchor, Text } from '@mantine/core';
import { useState } from 'react';
import { Countdown } from './countdown';
import { errorMessage } from './error-message';
import type { FailureProps } from './error-notice';
import { waitEndMs, waitFor } from './wait';

/** Shows beside what was loaded before why it could not be loaded again, and when it will be. */
export function StaleNotice({ error, at, retry }: FailureProps) {
  const wait = waitFor(error);
  return (
    <Text size="sm" c="dimmed" role="status" mb="sm">
      Not up to date.{' '}
      {wait === null ? (
        <>
          {errorMessage(error)}{' '}
          <Anchor component="button" type="button" inherit onClick={() => void retry()}>
            Try again
          </Anchor>
        </>
      ) : (
        <>
          {wait.title}. It loads again in <TimeLeft key={at} error={error} at={at} retry={retry} />.
        </>
      )}
    </Text>
  );
}

function TimeLeft({ error, at, retry }: FailureProps) {
  const [untilMs] = useState(() => waitEndMs(error, at));
  return <Countdown untilMs={untilMs} onEnd={() => void retry()} />;
}
