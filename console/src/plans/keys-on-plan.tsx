import { List, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../feedback/loaded';
import { UntrustedText } from '../format/untrusted-text';
import { useStore } from '../session/session';
import { TextLink } from '../layout/text-link';

const SHOWN = 20;

/** Lists the first keys on a plan. */
export function KeysOnPlan({ plan }: { plan: string }) {
  const store = useStore();
  const query = useQuery({
    queryKey: ['keys', 'on-plan', plan],
    queryFn: ({ signal }) => store.admin.keys.list({ plan, limit: SHOWN }, { signal }),
  });
  return (
    <Loaded query={query} skeleton={<Skeleton height={96} radius="md" />}>
      {({ items, nextCursor }) =>
        items.length === 0 ? (
          <Text c="dimmed">No key is on this plan.</Text>
        ) : (
          <Stack gap="sm">
            <List spacing={6} listStyleType="none">
              {items.map(({ id, name, lastFour, state }) => (
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
            {nextCursor !== null && (
              <TextLink to="/admin/keys" search={{ plan }}>
                All keys on this plan
              </TextLink>
            )}
          </Stack>
        )
      }
    </Loaded>
  );
}
