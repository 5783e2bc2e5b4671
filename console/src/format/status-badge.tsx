import { Badge, Text } from '@mantine/core';

interface StatusBadgeProps {
  /** As the service gives it, such as "available"; nothing for none. */
  status: string | undefined;
  /** A colour of the theme. */
  color: string | undefined;
}

/** Shows a status by its word and a colour. */
export function StatusBadge({ status, color = 'gray' }: StatusBadgeProps) {
  return status === undefined ? (
    <Text component="span" inherit c="dimmed" aria-label="None">
      —
    </Text>
  ) : (
    <Badge variant="dot" color={color} tt="capitalize" fw={550} style={{ verticalAlign: 'middle' }}>
      {status}
    </Badge>
  );
}
