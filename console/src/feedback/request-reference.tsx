import { Text } from '@mantine/core';
import { AnimalStoreError } from 'animal-store-client';
import { TextLink } from '../layout/text-link';
import { useRequestPath } from '../requests/use-request-path';
import { useSession } from '../session/session';

/** Shows the id of the request that failed, which leads to what the service kept of it. */
export function RequestReference({ error }: { error: Error }) {
  const { store } = useSession();
  // What sent no request, or got the response of a proxy, has no id.
  const id = error instanceof AnimalStoreError ? error.requestId : null;
  return (
    id !== null && (
      <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
        Request id: {store === null ? id : <RequestLink id={id} />}
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
