import { Stack, Text, ThemeIcon } from '@mantine/core';
import type { IconKey } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  icon: typeof IconKey;
  title: string;
  /** What would be here, and how it comes. */
  children?: ReactNode;
  action?: ReactNode;
}

/** Shown instead of a list without entries. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py="xl" ta="center">
      <ThemeIcon variant="light" size={44} radius="xl" aria-hidden>
        <Icon size={22} stroke={1.6} />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" maw={420}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
