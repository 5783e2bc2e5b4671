import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Operation } from './operations';
import { Prose } from './prose';
import type { PreparedRequest } from './request';

interface ConfirmDialogProps {
  operation: Operation;
  request: PreparedRequest;
  opened: boolean;
  onClose: () => void;
  onConfirm: () => void;
}

/** Shows what an operation of administration will do before it is sent. */
export function ConfirmDialog({ operation, request, opened, onClose, onConfirm }: ConfirmDialogProps) {
  const [effect = ''] = operation.description.split(/\n{2,}/);
  return (
    <Modal
      closeButtonProps={{ 'aria-label': 'Close' }}
      opened={opened}
      onClose={onClose}
      title={`${operation.summary}?`}
    >
      <Stack>
        <Prose text={effect} />
        <Text size="sm" className="try-path">
          {operation.method} {new URL(request.url).pathname}
        </Text>
        <Text size="sm" c="dimmed">
          It applies to this service, not to a copy of it, and the audit records it.
        </Text>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" onClick={onConfirm}>
            {operation.summary}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
