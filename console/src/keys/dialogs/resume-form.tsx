import { Text } from '@mantine/core';
import { DialogForm } from '../../form/dialog-form';
import { useSubmission } from '../../form/use-submission';
import { Instant } from '../../format/instant';
import { useStore } from '../../session/session';
import type { KeyFormProps } from './key-form';

/** Resumes a suspended key. */
export function ResumeForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const submission = useSubmission({
    initialValues: {},
    send: () => store.admin.keys.update(apiKey.id, { suspended: false }),
    onSent: onChanged,
  });
  return (
    <DialogForm
      action="Resume key"
      failure="The key was not resumed"
      submission={submission}
      onClose={onClose}
    >
      <Text size="sm">
        It was suspended on <Instant at={apiKey.suspendedAt} />. Requests with it work again within a second.
      </Text>
    </DialogForm>
  );
}
