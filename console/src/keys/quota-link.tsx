import { Stack, Text } from '@mantine/core';
import { TextLink } from '../layout/text-link';

interface QuotaLinkProps {
  id: string;
  externalId: string | null;
  /** Null if the quota was deleted. */
  plan: string | null;
}

/** Leads to the keys of a quota, by its external id, if it has one. */
export function QuotaLink({ id, externalId, plan }: QuotaLinkProps) {
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
        {externalId === null ? `Quota …${id.slice(-8)}` : <bdi>{externalId}</bdi>}
      </TextLink>
      <Text size="xs" c="dimmed" truncate>
        {plan === null ? 'Deleted' : `Plan ${plan}`}
      </Text>
    </Stack>
  );
}
