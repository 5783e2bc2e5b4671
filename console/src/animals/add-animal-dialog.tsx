import type { NewPet, Pet } from 'animal-store-client';
import { Fragment } from 'react';
import { FormDialog } from '../form/form-dialog';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { PET_FIELDS } from './pet-fields';

const INPUTS = Object.entries(PET_FIELDS).flatMap(([name, field]) =>
  'input' in field ? [{ name, ...field }] : [],
);
const EMPTY: Record<string, string> = Object.fromEntries(INPUTS.map(({ name }) => [name, '']));

interface AddAnimalDialogProps {
  opened: boolean;
  onClose: () => void;
  onAdded: (pet: Pet) => unknown;
}

/** Asks for a new animal and adds it. The service checks the fields, so that its rules stand in one place. */
export function AddAnimalDialog({ opened, onClose, onAdded }: AddAnimalDialogProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: EMPTY,
    send: (texts, idempotencyKey): Promise<Pet> => {
      const pet = Object.fromEntries(INPUTS.map(({ name, read }) => [name, read(texts[name] ?? '')]));
      return store.pets.create(pet as unknown as NewPet, { idempotencyKey });
    },
    onSent: onAdded,
  });
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title="Add an animal"
      submission={submission}
      action="Add"
      failure="The animal was not added"
    >
      {INPUTS.map(({ name, input }) => (
        <Fragment key={name}>{input(form.getInputProps(name))}</Fragment>
      ))}
    </FormDialog>
  );
}
