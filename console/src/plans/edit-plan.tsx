import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Plan } from 'animal-store-client';
import { useState } from 'react';
import { FormError } from '../feedback/form-error';
import { numberText } from '../format/number';
import { LimitFields } from './limit-fields';
import { type PlanValues, usePlanForm } from './use-plan-form';

/** Changes the limits of a plan, after saying what that does to the keys on it. */
export function EditPlan({ plan }: { plan: Plan }) {
  const { name, perMinute, perDay } = plan;
  const [proposed, setProposed] = useState<PlanValues | null>(null);
  const { form, saving, error } = usePlanForm(
    { name, perMinute: String(perMinute ?? ''), perDay: String(perDay ?? '') },
    () =>
      notifications.show({ title: 'Plan saved', message: `The limits of ${name} apply within a second.` }),
  );
  if (perMinute === null || perDay === null) {
    return <Text c="dimmed">This plan has no limits of its own: each key on it has its own two.</Text>;
  }
  const save = (values: PlanValues) => saving.mutate(values, { onSettled: () => setProposed(null) });
  return (
    <form onSubmit={form.onSubmit(setProposed)} noValidate>
      <Stack>
        {error !== null && <FormError error={error} title="The plan was not saved" />}
        <LimitFields form={form} />
        <Group justify="flex-end">
          <Button type="submit">Save…</Button>
        </Group>
      </Stack>
      <Modal
        opened={proposed !== null}
        onClose={() => setProposed(null)}
        title={`Change the limits of ${name}?`}
      >
        {proposed !== null && (
          <Stack>
            <Text>
              From {numberText(perMinute)} per minute and {numberText(perDay)} per day to{' '}
              <b>{numberText(Number(proposed.perMinute))} per minute</b> and{' '}
              <b>{numberText(Number(proposed.perDay))} per day</b>.
            </Text>
            <Text c="dimmed" size="sm">
              The change applies within a second to every key on this plan without limits of its own. What
              they have used of the current minute and day stays counted.
            </Text>
            <Group justify="flex-end" gap="sm">
              <Button variant="default" onClick={() => setProposed(null)}>
                Cancel
              </Button>
              <Button loading={saving.isPending} onClick={() => save(proposed)} data-autofocus>
                Change limits
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </form>
  );
}
