import { Text } from '@mantine/core';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import type { KeyFormProps } from './key-form';
import { LabelFields, toNote } from './label-fields';

/** Changes the name of a key and the note on it. */
export function LabelForm({ apiKey, onClose, onChanged }: KeyFormProps) {
  const store = useStore();
  const initialValues = { name: apiKey.name, note: apiKey.note ?? '' };
  const { form, ...submission } = useSubmission({
    initialValues,
    // Sends only changed fields: another administrator may have changed the others meanwhile.
    send: (given) =>
      store.admin.keys.update(apiKey.id, {
        ...(given.name !== initialValues.name && { name: given.name }),
        ...(given.note !== initialValues.note && { note: toNote(given) }),
      }),
    onSent: onChanged,
  });
  return (
    <DialogForm action="Save" failure="The key was not renamed" submission={submission} onClose={onClose}>
      <LabelFields form={form} />
      <Text size="sm">Requests with the key work as before. Its holder sees the name, but not the note.</Text>
    </DialogForm>
  );
}
