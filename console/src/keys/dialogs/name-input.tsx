import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

/** Asks for the name of a key. */
export function NameInput<Values extends { name: string }>({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <TextInput
      {...form.getInputProps('name')}
      label="Name"
      description="Who has the key, and for what"
      withAsterisk
      autoComplete="off"
      data-autofocus
    />
  );
}
