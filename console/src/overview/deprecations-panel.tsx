import { Anchor, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { DeprecatedCalls } from 'animal-store-client';
import { Fragment } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { Loaded } from '../feedback/loaded';
import { Instant } from '../format/instant';
import { countText } from '../format/number';
import { DividedStack } from '../layout/divided-stack';
import { Panel } from '../layout/panel';
import { useStore } from '../session/session';
import { leavePage } from '../address/leave-page';
import { SERVICE_ROOT } from '../address/service-root';

/** Lists the deprecated operations that the key still calls, their successors and their removal. */
export function DeprecationsPanel() {
  const store = useStore();
  const query = useQuery({
    queryKey: ['deprecated-calls'],
    queryFn: async ({ signal }) => (await store.deprecations.list({ limit: 100 }, { signal })).items,
    staleTime: Infinity,
  });
  return (
    <Panel title="Deprecated operations in use">
      <Loaded query={query} skeleton={<Skeleton height={120} radius="md" />}>
        {(operations) =>
          operations.length === 0 ? (
            <EmptyState icon={IconCircleCheck} title="No deprecated calls">
              You called no deprecated operation in the last 400 days.
            </EmptyState>
          ) : (
            <DividedStack gap="md">
              {operations.map((calls) => (
                <DeprecatedOperation key={calls.operation} calls={calls} />
              ))}
            </DividedStack>
          )
        }
      </Loaded>
    </Panel>
  );
}

function DeprecatedOperation({ calls }: { calls: DeprecatedCalls }) {
  const { method, path, sunsetAt, successors, requests, lastCalledAt } = calls;
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Code fz="sm">
          {method} {path}
        </Code>
      </Group>
      <Text size="sm">
        Will be removed on <Instant at={sunsetAt} dateOnly />. Use{' '}
        {successors.map((successor, index) => (
          <Fragment key={successor}>
            {index > 0 && ' or '}
            <Code>{successor}</Code>
          </Fragment>
        ))}{' '}
        instead.
      </Text>
      <Text size="sm" c="dimmed">
        {countText(requests, 'request')}, the last one <Instant at={lastCalledAt} />.{' '}
        <Anchor href={`${SERVICE_ROOT}docs`} onClick={leavePage} inherit>
          Read about it
        </Anchor>
      </Text>
    </Stack>
  );
}
