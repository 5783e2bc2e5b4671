import { useCreation } from '../form/use-creation';
import { useStore } from '../session/session';
import { FormDialog } from './form-dialog';
import type { KeyDialogProps } from './key-dialog';
import { LabelFields, labelOf } from './label-fields';

/** Changes the name of a key and the note on it. */
export function LabelDialog({ apiKey, opened, onClose, onExited, onChanged }: KeyDialogProps) {
  const store = useStore();
  const { form, submit, error, isPending } = useCreation({
    initialValues: { name: apiKey.name, note: apiKey.note ?? '' },
    create: (values) => store.admin.keys.label(apiKey.id, labelOf(values)),
    onCreated: onChanged,
  });
  return (
    <FormDialog
      title="Rename key"
      action="Save"
      failure="The key was not renamed"
      opened={opened}
      isPending={isPending}
      error={error}
      onSubmit={submit}
      onClose={onClose}
      onExited={onExited}
    >
      <LabelFields form={form} />
    </FormDialog>
  );
}
