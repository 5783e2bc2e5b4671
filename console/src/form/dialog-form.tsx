import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormError } from '../feedback/form-error';

interface DialogFormProps {
  /** The button that sends it. */
  action: string;
  color?: string;
  isPending: boolean;
  error: Error | null;
  /** The title of a failure: what did not happen. */
  failure: string;
  /** What to do when no response arrived. */
  noResponse?: string;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** The form of a dialog that explains what a change does, and makes it. */
export function DialogForm(props: DialogFormProps) {
  const { action, color, isPending, error, failure, noResponse } = props;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
      noValidate
    >
      <Stack>
        {error !== null && (
          <FormError error={error} title={failure} {...(noResponse !== undefined && { noResponse })} />
        )}
        {props.children}
        <Group justify="flex-end" gap="sm" mt="xs">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending} {...(color !== undefined && { color })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
