import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { FormError } from '../feedback/form-error';
import { LimitFields } from './limit-fields';
import { usePlanForm } from './use-plan-form';

interface NewPlanDialogProps {
  opened: boolean;
  onClose: () => void;
}

/** Creates a plan. */
export function NewPlanDialog({ opened, onClose }: NewPlanDialogProps) {
  const { form, saving, error } = usePlanForm(
    { name: '', perMinute: '', perDay: '' },
    ({ name }) => {
      notifications.show({ message: `Keys can be put on ${name} now.`, title: 'Plan saved' });
      form.reset();
      onClose();
    },
    { isNew: true },
  );
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={() => saving.reset()} title="New plan">
      <form onSubmit={form.onSubmit((values) => saving.mutate(values))} noValidate>
        <Stack>
          {error !== null && <FormError error={error} title="The plan was not saved" />}
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
            <Button type="submit" loading={saving.isPending}>
              Create plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
