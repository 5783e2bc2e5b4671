import { SimpleGrid, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { LimitValues } from '../form/limit-values';

/** The two limits of a plan. */
export function LimitFields<Values extends LimitValues>({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <SimpleGrid cols={2}>
      <TextInput
        key={form.key('perMinute')}
        {...form.getInputProps('perMinute')}
        label="Requests per minute"
        inputMode="numeric"
        autoComplete="off"
        withAsterisk
      />
      <TextInput
        key={form.key('perDay')}
        {...form.getInputProps('perDay')}
        label="Requests per day"
        inputMode="numeric"
        autoComplete="off"
        withAsterisk
      />
    </SimpleGrid>
  );
}
