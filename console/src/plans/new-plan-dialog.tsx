import { TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { FormDialog } from '../form/form-dialog';
import { LimitFields } from '../form/limit-fields';
import { useSubmission } from '../form/use-submission';
import { useStore } from '../session/session';
import { LifetimeField } from './lifetime-field';
import { usePlanRefresh } from './plan-query';
import { createPlan, planErrors } from './plan-values';

interface NewPlanDialogProps {
  opened: boolean;
  onClose: () => void;
}

const NO_RESPONSE =
  'The plan may have been created nevertheless. Look for it in the list before you create it again.';

/** Creates a plan. */
export function NewPlanDialog({ opened, onClose }: NewPlanDialogProps) {
  const store = useStore();
  const refresh = usePlanRefresh();
  const { form, ...submission } = useSubmission({
    initialValues: { name: '', perMinute: '', perDay: '', maxKeyLifetimeDays: '' },
    validate: planErrors,
    send: (values) => createPlan(store, values),
    onSent: (plan) => {
      notifications.show({ message: `You can now choose ${plan.name} for keys.`, title: 'Plan saved' });
      refresh(plan);
      onClose();
    },
  });
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title="New plan"
      submission={submission}
      action="Create plan"
      failure="The plan was not created"
      noResponse={NO_RESPONSE}
    >
      <TextInput
        {...form.getInputProps('name')}
        label="Name"
        description="Lower-case letters, digits and hyphens"
        autoComplete="off"
        withAsterisk
        data-autofocus
      />
      <LimitFields form={form} label="Requests" withAsterisk />
      <LifetimeField form={form} />
    </FormDialog>
  );
}
