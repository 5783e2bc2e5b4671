import { Text } from '@mantine/core';
import { AnimalStoreError } from 'animal-store-client';
import { errorMessage } from './error-message';
import { TextLink } from '../layout/text-link';
import { useRequestPath } from '../requests/use-request-path';
import { useSession } from '../session/session';

/** Shows why a request failed, with its id once: in the message, or below it. */
export function ErrorText({ error }: { error: Error }) {
  const { store } = useSession();
  const message = errorMessage(error);
  const id = error instanceof AnimalStoreError ? error.requestId : null;
  const [before = '', after] = id === null ? [message] : message.split(id);
  return id === null || after === undefined ? (
    <>
      <Text size="sm">{message}</Text>
      <RequestReference error={error} />
    </>
  ) : (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {before}
      {store === null ? id : <RequestLink id={id} />}
      {after}
    </Text>
  );
}

/** Shows the id of the request that failed, which leads to what the service kept of it. */
export function RequestReference({ error }: { error: Error }) {
  const { store } = useSession();
  // What sent no request, or got the response of a proxy, has no id.
  const id = error instanceof AnimalStoreError ? error.requestId : null;
  return (
    id !== null && (
      <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
        Request ID: {store === null ? id : <RequestLink id={id} />}
      </Text>
    )
  );
}

function RequestLink({ id }: { id: string }) {
  return (
    <TextLink to={useRequestPath()} search={{ id }} inherit>
      {id}
    </TextLink>
  );
}
