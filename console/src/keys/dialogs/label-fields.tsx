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

/** Returns the fields of a request for a new key. */
export function toLabel(values: LabelValues): { name: string; note?: string } {
  const note = toNote(values);
  return { name: values.name, ...(note !== null && { note }) };
}

/** Returns the note of a request, null if there is none. A note of the service is one line. */
export function toNote({ note }: LabelValues): string | null {
  const line = note.trim().replaceAll(/\s*\n\s*/g, ' ');
  return line === '' ? null : line;
}
