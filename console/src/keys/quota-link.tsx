import { Stack, Text } from '@mantine/core';
import { TextLink } from '../layout/text-link';

interface QuotaLinkProps {
  id: string;
  /** Null if the quota was deleted. */
  plan: string | null;
}

/** Leads to the keys of a quota. */
export function QuotaLink({ id, plan }: QuotaLinkProps) {
  return (
    <Stack gap={0} miw={0}>
      <TextLink
        to="/admin/keys"
        search={{ quotaId: id }}
        size="sm"
        fw={600}
        underline="hover"
        truncate
        display="block"
        title={id}
      >
        Quota …{id.slice(-8)}
      </TextLink>
      <Text size="xs" c="dimmed" truncate>
        {plan === null ? 'Deleted' : `Plan ${plan}`}
      </Text>
    </Stack>
  );
}
