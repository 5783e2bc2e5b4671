import { Badge, Text } from '@mantine/core';

interface StatusBadgeProps {
  /** Is the word of the service, such as "available"; undefined if there is no status. */
  status: string | undefined;
  /** Names a colour of the theme. */
  color: string | undefined;
}

/** Shows a status by its word and a colour. */
export function StatusBadge({ status, color = 'gray' }: StatusBadgeProps) {
  return status === undefined ? (
    <Text component="span" inherit c="dimmed" aria-label="None">
      —
    </Text>
  ) : (
    <Badge
      variant="dot"
      color={color}
      tt="capitalize"
      fw={550}
      miw="max-content"
      style={{ verticalAlign: 'middle' }}
    >
      {status}
    </Badge>
  );
}
