import { Modal, NativeSelect, TextInput } from '@mantine/core';
import type { NewPet, Pet, PetStatus } from 'animal-store-client';
import { DialogForm } from '../form/dialog-form';
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
  const { form, submit, error, isPending, clearErrors } = useSubmission({
    initialValues: { name: '', categoryId: '', status: '' },
    send: ({ name, categoryId, status }, idempotencyKey): Promise<Pet> => {
      const pet = { name, categoryId: toInteger(categoryId), ...(status && { status: status as PetStatus }) };
      return store.createPet(pet as NewPet, { idempotencyKey });
    },
    onSent: onAdded,
  });
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={clearErrors} title="Add an animal">
      <DialogForm
        action="Add"
        isPending={isPending}
        error={error}
        failure="The animal was not added"
        onSubmit={submit}
        onClose={onClose}
      >
        <TextInput
          key={form.key('name')}
          {...form.getInputProps('name')}
          label="Name"
          withAsterisk
          autoComplete="off"
          data-autofocus
        />
        <TextInput
          key={form.key('categoryId')}
          {...form.getInputProps('categoryId')}
          label="Category id"
          description="A whole number; the store gives it no meaning of its own"
          withAsterisk
          autoComplete="off"
          inputMode="numeric"
        />
        <NativeSelect
          key={form.key('status')}
          {...form.getInputProps('status')}
          label="Status"
          data={STATUSES}
        />
      </DialogForm>
    </Modal>
  );
}
