import { Anchor, Text } from '@mantine/core';
import { RateLimitError } from 'animal-store-client';
import { useState } from 'react';
import { Countdown } from './countdown';
import { errorMessage } from './error-message';
import type { FailureProps } from './error-notice';
import { isBan, limitEndMs } from './limit-error';

/** Shows beside what was loaded before why it could not be loaded again, and when it will be. */
export function StaleNotice({ error, at, retry }: FailureProps) {
  return (
    <Text size="sm" c="dimmed" role="status" mb="sm">
      Not up to date:{' '}
      {error instanceof RateLimitError ? (
        <Limit key={at} error={error} at={at} retry={retry} />
      ) : (
        <>
          {errorMessage(error)}{' '}
          <Anchor component="button" type="button" inherit onClick={() => void retry()}>
            Try again
          </Anchor>
        </>
      )}
    </Text>
  );
}

function Limit({ error, at, retry }: FailureProps & { error: RateLimitError }) {
  const [untilMs] = useState(() => limitEndMs(error, at));
  return (
    <>
      {isBan(error) ? 'this key is banned' : 'the rate limit is reached'}. It loads again in{' '}
      <Countdown untilMs={untilMs} onEnd={() => void retry()} />.
    </>
  );
}
