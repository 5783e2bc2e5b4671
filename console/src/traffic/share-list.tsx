import { Group, Progress, Stack, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../feedback/empty-state';
import { numberText } from '../format/number';

interface ShareItem {
  id: string;
  label: ReactNode;
  /** What needs attention, such as denied requests. */
  note?: string | null;
  value: number;
}

/** Lists items of a range, the largest first, with a bar for the share of the largest. */
export function ShareList({ label, items }: { label: string; items: ShareItem[] }) {
  if (items.length === 0) {
    return <EmptyState icon={IconChartBar} title="No requests in this range" />;
  }
  const largest = Math.max(...items.map(({ value }) => value));
  return (
    <Stack component="ul" gap="md" m={0} p={0} aria-label={label} style={{ listStyle: 'none' }}>
      {items.map((item) => (
        <li key={item.id}>
          <Group justify="space-between" gap="md" wrap="nowrap" mb={6}>
            <Text component="div" size="sm" truncate>
              {item.label}
            </Text>
            <Group gap="sm" wrap="nowrap" style={{ flexShrink: 0 }}>
              {item.note && (
                <Text size="xs" c="dimmed">
                  {item.note}
                </Text>
              )}
              <Text size="sm" fw={600}>
                {numberText(item.value)}
              </Text>
            </Group>
          </Group>
          <Progress value={(item.value / largest) * 100} size={4} radius="xl" aria-hidden />
        </li>
      ))}
    </Stack>
  );
}
