import { List, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ErrorNotice } from '../feedback/error-notice';
import { UntrustedText } from '../format/untrusted-text';
import { useStore } from '../session/session';
import { TextLink } from '../layout/text-link';

const SHOWN = 20;

/** Lists the first keys on a plan. */
export function KeysOnPlan({ plan }: { plan: string }) {
  const store = useStore();
  const { data, error, errorUpdatedAt, refetch } = useQuery({
    queryKey: ['keys', 'on-plan', plan],
    queryFn: ({ signal }) => store.admin.keys.list({ plan, limit: SHOWN }, { signal }),
  });
  if (error !== null) {
    return <ErrorNotice key={errorUpdatedAt} error={error} retry={refetch} />;
  }
  if (data === undefined) {
    return <Skeleton height={96} radius="md" />;
  }
  if (data.items.length === 0) {
    return <Text c="dimmed">No key is on this plan.</Text>;
  }
  return (
    <Stack gap="sm">
      <List spacing={6} listStyleType="none">
        {data.items.map(({ id, name, lastFour, state }) => (
          <List.Item key={id}>
            <TextLink to="/admin/keys/$id" params={{ id: id }}>
              <UntrustedText>{name}</UntrustedText>
            </TextLink>{' '}
            <Text component="span" c="dimmed" size="sm">
              …{lastFour}
              {state !== 'active' && `, ${state}`}
            </Text>
          </List.Item>
        ))}
      </List>
      {data.nextCursor !== null && (
        <TextLink to="/admin/keys" search={{ plan }}>
          All keys on this plan
        </TextLink>
      )}
    </Stack>
  );
}
