import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AdminFailedRequest, Key } from 'animal-store-client';
import { Loaded } from '../feedback/loaded';
import { Instant } from '../format/instant';
import { UntrustedText } from '../format/untrusted-text';
import { DividedStack } from '../layout/divided-stack';
import { FoldingPanel } from '../layout/folding-panel';
import { TextLink } from '../layout/text-link';
import { ResponseStatus } from '../requests/failed-request-cells';
import { useStore } from '../session/session';
import { keyFailuresQuery } from './key-query';

/** Shows the last requests with a key that failed. */
export function KeyFailuresPanel({ apiKey }: { apiKey: Pick<Key, 'id'> }) {
  const query = useQuery(keyFailuresQuery(useStore(), apiKey.id));
  return (
    <FoldingPanel
      title="Failed requests"
      description="The last requests with this key that got 4xx or 5xx"
      actions={
        <TextLink to="/admin/requests" search={{ keyId: apiKey.id }} size="sm">
          Show all
        </TextLink>
      }
    >
      <Loaded query={query} skeleton={<Skeleton height={200} radius="md" />}>
        {(requests) =>
          requests.length === 0 ? (
            <Text size="sm" c="dimmed">
              No failed request with this key is kept.
            </Text>
          ) : (
            <DividedStack gap="sm">
              {requests.map((request, index) => (
                <Failure key={`${request.requestedAt} ${requests.length - index}`} request={request} />
              ))}
            </DividedStack>
          )
        }
      </Loaded>
    </FoldingPanel>
  );
}

function Failure({ request }: { request: AdminFailedRequest }) {
  const { requestId, requestedAt, method, path, message } = request;
  return (
    <Stack gap={2}>
      <Group justify="space-between" gap="xs">
        <TextLink
          to="/admin/requests/show"
          search={{ id: requestId }}
          size="sm"
          ff="monospace"
          underline="hover"
          style={{ overflowWrap: 'anywhere' }}
        >
          {method} <bdi>{path}</bdi>
        </TextLink>
        <Text size="sm" c="dimmed" component="div">
          <Instant at={requestedAt} toSecond />
        </Text>
      </Group>
      <Text size="sm" component="div">
        <ResponseStatus {...request} />
      </Text>
      <Text size="sm" c="dimmed" lineClamp={2}>
        <UntrustedText>{message}</UntrustedText>
      </Text>
    </Stack>
  );
}
