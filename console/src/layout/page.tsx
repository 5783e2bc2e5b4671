import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** The maximum width of a page, in pixels. */
export const PAGE_WIDTH = 1200;

interface PageProps {
  title: string;
  /** Shown beside the title, such as the stability of the page's operations. */
  badge?: ReactNode;
  description?: ReactNode;
  /** The buttons of the whole page. */
  actions?: ReactNode;
  children: ReactNode;
}

/**
 * Moves the focus to the heading of the page, such as from a button that is gone once it has done its work.
 */
export function focusHeading(): void {
  document.querySelector('h1')?.focus();
}

/** A page with its heading, which is also the title of the tab. */
export function Page({ title, badge, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Animal Store`;
  }, [title]);
  return (
    <Stack gap="xl" maw={PAGE_WIDTH} mx="auto">
      <Group justify="space-between" align="flex-end" gap="md">
        <Stack gap={2}>
          <Group gap="sm">
            <Title order={1} tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
              <bdi>{title}</bdi>
            </Title>
            {badge}
          </Group>
          {description !== undefined && <Text c="dimmed">{description}</Text>}
        </Stack>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
