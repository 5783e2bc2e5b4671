import { SimpleGrid, TextInput, type TextInputProps } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { LimitValues } from './limit-values';

interface LimitFieldsProps<Values extends LimitValues> extends Pick<
  TextInputProps,
  'placeholder' | 'withAsterisk'
> {
  form: UseFormReturnType<Values>;
  /** What is limited, such as "Requests". */
  label: string;
}

/** The two limits of a plan or a quota. */
export function LimitFields<Values extends LimitValues>({ form, label, ...input }: LimitFieldsProps<Values>) {
  const limit = { inputMode: 'numeric', autoComplete: 'off', ...input } as const;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput {...form.getInputProps('perMinute')} label={`${label} per minute`} {...limit} />
      <TextInput {...form.getInputProps('perDay')} label={`${label} per day`} {...limit} />
    </SimpleGrid>
  );
}
