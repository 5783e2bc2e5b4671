import { Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { FormError } from '../feedback/form-error';

/** How a form is sent, and its outcome. */
export interface Submission {
  submit: (event: FormEvent<HTMLFormElement>) => void;
  isPending: boolean;
  error: Error | null;
}

export interface DialogFormProps {
  submission: Submission;
  /** The button that sends it. */
  action: string;
  color?: string;
  /** The title of a failure: what did not happen. */
  failure: string;
  /** What to do when no response arrived. */
  noResponse?: string;
  onClose: () => void;
  children: ReactNode;
}

/** The form of a dialog that explains what a change does, and makes it. */
export function DialogForm(props: DialogFormProps) {
  const { submission, action, color, failure, noResponse, onClose, children } = props;
  const { submit, isPending, error } = submission;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {error !== null && (
          <FormError error={error} title={failure} {...(noResponse !== undefined && { noResponse })} />
        )}
        {children}
        <Group justify="flex-end" gap="sm" className="dialog-actions">
          <Button variant="default" onClick={onClose}>
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
