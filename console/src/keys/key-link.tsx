import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { MaskedKey } from '../format/masked-key';
import { TextLink } from '../layout/text-link';

interface KeyLinkProps {
  id: string;
  /** All fields are null if the key was deleted. */
  apiKey: { name: string | null; prefix: string | null; lastFour: string | null };
  /** Shown beside the masked key. */
  children?: ReactNode;
}

/** Leads to a key by its name, above the masked key: a successor has the name of the key before it. */
export function KeyLink({ id, apiKey: { name, prefix, lastFour }, children }: KeyLinkProps) {
  return (
    <Stack gap={0} miw={0}>
      <TextLink
        to="/admin/keys/$id"
        params={{ id }}
        size="sm"
        fw={600}
        underline="hover"
        truncate
        display="block"
        {...(name !== null && { title: name })}
      >
        <bdi>{name ?? 'A deleted key'}</bdi>
      </TextLink>
      <Text size="xs" c="dimmed" truncate>
        {prefix !== null && lastFour !== null && <MaskedKey apiKey={{ prefix, lastFour }} />}
        {children}
      </Text>
    </Stack>
  );
}
