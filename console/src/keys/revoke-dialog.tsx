import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useStore } from '../session/session';
import { FormDialog } from './form-dialog';
import type { KeyDialogProps } from './key-dialog';
import { OwnKeyWarning } from './own-key-warning';

/** Revokes a key. */
export function RevokeDialog({ apiKey, opened, onClose, onExited, onChanged }: KeyDialogProps) {
  const store = useStore();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => store.admin.keys.revoke(apiKey.id),
    onSuccess: onChanged,
  });
  return (
    <FormDialog
      title="Revoke this key?"
      action="Revoke key"
      color="red.8"
      failure="The key was not revoked"
      opened={opened}
      isPending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
      onExited={onExited}
    >
      <Text size="sm">
        Requests with this key get 401 within a second. This cannot be undone.
        {apiKey.successorId !== null && ' Its successor keeps working.'}
      </Text>
      <OwnKeyWarning id={apiKey.id}>Revoking it signs you out at once.</OwnKeyWarning>
    </FormDialog>
  );
}
