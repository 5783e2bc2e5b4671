import { Box, type BoxProps, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useId } from 'react';

interface PanelProps extends Omit<BoxProps, 'title'> {
  title?: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** False while only the heading is shown. */
  children: ReactNode;
}

/** A section of a page on a surface of its own. */
export function Panel({ title, description, actions, children, ...box }: PanelProps) {
  const id = useId();
  return (
    <Box
      component="section"
      className="panel"
      p={{ base: 'md', sm: 'lg' }}
      aria-labelledby={title === undefined ? undefined : id}
      {...box}
    >
      {title !== undefined && (
        <Group justify="space-between" align="flex-start" gap="sm" mb={children === false ? 0 : 'md'}>
          <div>
            <Title order={2} id={id}>
              {title}
            </Title>
            {description !== undefined && description !== false && (
              <Text size="sm" c="dimmed">
                {description}
              </Text>
            )}
          </div>
          {actions}
        </Group>
      )}
      {children}
    </Box>
  );
}
