import { Text } from '@mantine/core';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import type { KeyFormProps } from './key-form';
import { LabelFields, toLabel } from './label-fields';

/** Changes the name of a key and the note on it. */
export function LabelForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { name: apiKey.name, note: apiKey.note ?? '' },
    send: (values) => store.admin.keys.label(apiKey.id, toLabel(values)),
    onSent: onChanged,
  });
  return (
    <DialogForm action="Save" failure="The key was not renamed" submission={submission} onClose={onClose}>
      <LabelFields form={form} />
      <Text size="sm">Requests with the key work as before. Its holder sees the name, but not the note.</Text>
    </DialogForm>
  );
}
