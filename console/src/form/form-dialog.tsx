import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { DialogForm, type DialogFormProps, type Submission } from './dialog-form';

interface FormDialogProps extends DialogFormProps {
  submission: Submission & { clearErrors: () => void };
  opened: boolean;
  title: ReactNode;
  /** Shown instead of the form, if given. */
  instead?: ReactNode;
}

/** A dialog with a form. It keeps what was typed until that is sent, but forgets a failure when it closes. */
export function FormDialog({ opened, title, instead, ...form }: FormDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={form.onClose}
      onExitTransitionEnd={form.submission.clearErrors}
      title={title}
    >
      {instead ?? <DialogForm {...form} />}
    </Modal>
  );
}
