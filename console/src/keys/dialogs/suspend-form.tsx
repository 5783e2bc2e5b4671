import { Text } from '@mantine/core';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { RelativeInstant } from '../../format/relative-instant';
import { Fact } from '../../layout/fact';
import { useStore } from '../../session/session';
import type { KeyFormProps } from './key-form';
import { OwnKeyWarning } from './own-key-warning';

/** Suspends a key until it is resumed. */
export function SuspendForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const submission = useSubmission({
    initialValues: {},
    send: () => store.admin.keys.update(apiKey.id, { suspended: true }),
    onSent: onChanged,
  });
  return (
    <DialogForm
      action="Suspend key"
      color="red.8"
      failure="The key was not suspended"
      submission={submission}
      onClose={onClose}
    >
      <Fact label="Last used">
        <RelativeInstant at={apiKey.lastUsedAt} />
      </Fact>
      <Text size="sm">
        Requests with this key get 401 within a second, until you resume it. Its expiry goes on. Keys that it
        issued{apiKey.successorId !== null && ', and its successor,'} keep working.
      </Text>
      <OwnKeyWarning id={apiKey.id}>Suspending it signs you out at once.</OwnKeyWarning>
    </DialogForm>
  );
}
