import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

interface ExternalIdValues {
  externalId: string;
}

/** Asks for what administrators call the customer of a quota. */
export function ExternalIdInput<Values extends ExternalIdValues>({
  form,
}: {
  form: UseFormReturnType<Values>;
}) {
  return (
    <TextInput
      {...form.getInputProps('externalId')}
      label="External ID"
      description="What you call the customer in your own system"
      autoComplete="off"
    />
  );
}

/** Returns the field of a request; null for an empty text. */
export const toExternalId = ({ externalId }: ExternalIdValues) => (externalId === '' ? null : externalId);
