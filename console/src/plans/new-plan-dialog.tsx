import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { FormError } from '../feedback/form-error';
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
      <form onSubmit={submit} noValidate>
        <Stack>
          {error !== null && (
            <FormError error={error} title="The plan was not created" noResponse={NO_RESPONSE} />
          )}
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
          <Group justify="flex-end" gap="sm" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              Create plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
