import { Text } from '@mantine/core';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';

/** Revokes a key. */
export function RevokeForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const submission = useSubmission({
    initialValues: {},
    send: () => store.admin.keys.revoke(apiKey.id),
    onSent: onChanged,
  });
  return (
    <DialogForm
      action="Revoke key"
      color="red.8"
      failure="The key was not revoked"
      submission={submission}
      onClose={onClose}
    >
      <Text size="sm">
        Requests with this key get 401 within a second. This cannot be undone.
        {apiKey.successorId !== null && ' Its successor keeps working.'}
      </Text>
      <OwnKeyWarning id={apiKey.id}>Revoking it signs you out at once.</OwnKeyWarning>
    </DialogForm>
  );
}
