import { Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { DialogForm } from '../form/dialog-form';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { LimitFields } from './limit-fields';
import { usePlanRefresh } from './plan-query';
import { createPlan, planErrors } from './plan-values';

interface NewPlanDialogProps {
  opened: boolean;
  onClose: () => void;
}

const NO_RESPONSE =
  'The plan may have been created all the same. Look for it in the list before you create it again.';

/** Creates a plan. */
export function NewPlanDialog({ opened, onClose }: NewPlanDialogProps) {
  const store = useStore();
  const refresh = usePlanRefresh();
  const { form, submit, error, isPending, clearErrors } = useSubmission({
    initialValues: { name: '', perMinute: '', perDay: '' },
    validate: planErrors,
    send: (values) => createPlan(store, values),
    onSent: (plan) => {
      notifications.show({ message: `Keys can be put on ${plan.name} now.`, title: 'Plan saved' });
      refresh(plan);
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={clearErrors} title="New plan">
      <DialogForm
        action="Create plan"
        isPending={isPending}
        error={error}
        failure="The plan was not created"
        noResponse={NO_RESPONSE}
        onSubmit={submit}
        onClose={onClose}
      >
        <TextInput
          key={form.key('name')}
          {...form.getInputProps('name')}
          label="Name"
          description="Lower-case letters, digits and hyphens"
          autoComplete="off"
          withAsterisk
          data-autofocus
        />
        <LimitFields form={form} />
      </DialogForm>
    </Modal>
  );
}
