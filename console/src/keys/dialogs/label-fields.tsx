import { Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { NameInput } from './name-input';

interface LabelValues {
  name: string;
  note: string;
}

/** Asks for the name of a key and a note on it. */
export function LabelFields<Values extends LabelValues>({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <>
      <NameInput form={form} />
      <Textarea
        {...form.getInputProps('note')}
        label="Note"
        description="Only administrators see it"
        rows={3}
      />
    </>
  );
}

/** Returns the fields of a request. A note of the service is one line. */
export function toLabel({ name, note }: LabelValues): { name: string; note?: string } {
  const line = note.trim().replaceAll(/\s*\n\s*/g, ' ');
  return { name, ...(line !== '' && { note: line }) };
}
