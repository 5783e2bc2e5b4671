import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react';
import { AnimalStoreError, ConnectionError } from 'animal-store-client';
import { useMemo, useState } from 'react';
import { Countdown } from './countdown';
import { ErrorText, RequestReference } from './request-reference';
import { waitEndMs, waitFor } from './wait';

interface FormErrorProps {
  error: Error;
  /** What did not happen, such as "The animal was not added". */
  title: string;
  /** What to do when no response arrived; by default, to send it again. */
  noResponse?: string;
}

const SEND_AGAIN = 'It may have succeeded. Sending again is safe: nothing is added twice.';

/** Shows in a form why sending it failed. What is wrong with a field is shown beside the field. */
export function FormError({ error, title, noResponse = SEND_AGAIN }: FormErrorProps) {
  if (waitFor(error) !== null) {
    return <WaitNotice error={error} title={title} />;
  }
  return isWithoutResponse(error) ? (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="No response" role="alert">
      {noResponse}
    </Alert>
  ) : (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
      <ErrorText error={error} />
    </Alert>
  );
}

/** Returns whether no response of the service arrived, at most one of a proxy that gave up on it. */
function isWithoutResponse(error: Error): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof AnimalStoreError && error.code === 'unexpected_response' && Number(error.status) >= 500)
  );
}

function WaitNotice({ error, title }: { error: Error; title: string }) {
  const untilMs = useMemo(() => waitEndMs(error, Date.now()), [error]);
  const [ended, setEnded] = useState<Error | null>(null);
  return (
    <Alert color="orange" icon={<IconClockPause aria-hidden />} title={title} role="status">
      <Text size="sm">
        {waitFor(error)?.title}.{' '}
        {ended === error ? (
          'You can send it again now.'
        ) : (
          <>
            You can send it again in <Countdown untilMs={untilMs} onEnd={() => setEnded(error)} />.
          </>
        )}
      </Text>
      <RequestReference error={error} />
    </Alert>
  );
}
