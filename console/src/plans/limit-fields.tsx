import { SimpleGrid, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { LimitValues } from '../form/limit-values';

/** The two limits of a plan. */
export function LimitFields<Values extends LimitValues>({ form }: { form: UseFormReturnType<Values> }) {
  const limit = { inputMode: 'numeric', autoComplete: 'off', withAsterisk: true } as const;
  return (
    <SimpleGrid cols={2}>
      <TextInput
        key={form.key('perMinute')}
        {...form.getInputProps('perMinute')}
        label="Requests per minute"
        {...limit}
      />
      <TextInput
        key={form.key('perDay')}
        {...form.getInputProps('perDay')}
        label="Requests per day"
        {...limit}
      />
    </SimpleGrid>
  );
}
