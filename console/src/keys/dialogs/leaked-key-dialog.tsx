import { PasswordInput, Text } from '@mantine/core';
import type { Key } from 'animal-store-client';
import { FormDialog } from '../../form/form-dialog';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';

interface LeakedKeyDialogProps {
  opened: boolean;
  onClose: () => void;
  onRevoked: (key: Key) => void;
}

/** Revokes a leaked key, of which an administrator knows only the key itself. */
export function LeakedKeyDialog({ opened, onClose, onRevoked }: LeakedKeyDialogProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { key: '' },
    send: ({ key }) => store.admin.keys.revokeLeaked({ key: key.trim() }),
    onSent: onRevoked,
  });
  return (
    <FormDialog
      opened={opened}
      title="Revoke a key that leaked"
      action="Revoke key"
      color="red.8"
      failure="No key was revoked"
      submission={submission}
      onClose={onClose}
    >
      <PasswordInput
        label="Key"
        description="The key itself, as it was found"
        withAsterisk
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('key')}
      />
      <Text size="sm">
        This key, its successors, and the keys that any of them issued are revoked immediately and
        permanently: a person who found it may have rotated it.
      </Text>
    </FormDialog>
  );
}
