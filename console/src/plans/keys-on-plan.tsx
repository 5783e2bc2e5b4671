import { List, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../feedback/loaded';
import { KeyLink } from '../keys/key-link';
import { useStore } from '../session/session';
import { TextLink } from '../layout/text-link';

const SHOWN = 20;

/** Lists the first keys on a plan, those that are valid before the others. */
export function KeysOnPlan({ plan }: { plan: string }) {
  const store = useStore();
  const query = useQuery({
    queryKey: ['keys', 'on-plan', plan],
    queryFn: ({ signal }) => store.admin.keys.list({ plan, sort: 'state', limit: SHOWN }, { signal }),
  });
  return (
    <Loaded query={query} skeleton={<Skeleton height={96} radius="md" />}>
      {({ items, nextCursor }) =>
        items.length === 0 ? (
          <Text c="dimmed">No key is on this plan.</Text>
        ) : (
          <Stack gap="sm">
            <List spacing={6} listStyleType="none">
              {items.map((apiKey) => (
                <List.Item key={apiKey.id}>
                  <KeyLink id={apiKey.id} apiKey={apiKey}>
                    {apiKey.state !== 'active' && `, ${apiKey.state}`}
                  </KeyLink>
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
