import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

/** The longest life of a plan's keys as a form has it, in days; empty for any. */
export interface LifetimeValues {
  maxKeyLifetimeDays: string;
}

/** Asks for the longest life of the keys that are issued on a plan. */
export function LifetimeField<Values extends LifetimeValues>({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <TextInput
      {...form.getInputProps('maxKeyLifetimeDays')}
      label="Longest life of a key, in days"
      description="Of keys issued or rotated from now on. Leave empty to allow any."
      inputMode="numeric"
      autoComplete="off"
    />
  );
}
