import { Button, Stack, Text } from '@mantine/core';

/**
 * Shows that the service has its experimental operations off, which it reports as a path that does not exist.
 */
export function NotOffered({ onClose }: { onClose: () => void }) {
  return (
    <Stack align="flex-start">
      <Text role="alert">
        This service does not take orders here: placing an order is experimental, and its experimental
        operations are off. No order was placed.
      </Text>
      <Button variant="default" onClick={onClose} data-autofocus>
        Close
      </Button>
    </Stack>
  );
}
