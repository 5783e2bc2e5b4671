import { NativeSelect, TextInput } from '@mantine/core';
import type { NewPet, Pet, PetStatus } from 'animal-store-client';
import { FormDialog } from '../form/form-dialog';
import { toInteger } from '../form/integer';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';

const STATUSES = [
  { value: '', label: 'None' },
  { value: 'available', label: 'Available' },
  { value: 'pending', label: 'Pending' },
  { value: 'sold', label: 'Sold' },
];

interface AddAnimalDialogProps {
  opened: boolean;
  onClose: () => void;
  onAdded: (pet: Pet) => unknown;
}

/** Asks for a new animal and adds it. The service checks the fields, so that its rules stand in one place. */
export function AddAnimalDialog({ opened, onClose, onAdded }: AddAnimalDialogProps) {
  const store = useStore();
  const { form, ...submission } = useSubmission({
    initialValues: { name: '', categoryId: '', status: '' },
    send: ({ name, categoryId, status }, idempotencyKey): Promise<Pet> => {
      const pet = { name, categoryId: toInteger(categoryId), ...(status && { status: status as PetStatus }) };
      return store.pets.create(pet as NewPet, { idempotencyKey });
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
      <TextInput
        {...form.getInputProps('name')}
        label="Name"
        withAsterisk
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('categoryId')}
        label="Category id"
        description="Any whole number"
        withAsterisk
        autoComplete="off"
        inputMode="numeric"
      />
      <NativeSelect {...form.getInputProps('status')} label="Status" data={STATUSES} />
    </FormDialog>
  );
}
