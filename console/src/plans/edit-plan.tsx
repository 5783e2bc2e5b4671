import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Plan } from 'animal-store-client';
import { useEffect, useRef, useState } from 'react';
import { FormError } from '../feedback/form-error';
import { LimitFields } from '../form/limit-fields';
import { limitErrors, type LimitValues } from '../form/limit-values';
import { ScopedButton } from '../form/scoped-button';
import { useSubmission } from '../form/use-submission';
import { numberText } from '../format/number';
import { useStore } from '../session/session';
import { usePlanRefresh } from './plan-query';
import { savePlan } from './plan-values';

export interface EditPlanProps {
  plan: Plan;
  /** Whether the dialog that confirms the change is open. The drawer ignores Escape then. */
  isConfirming: boolean;
  setConfirming: (isConfirming: boolean) => void;
}

/** Changes the limits of a plan, after saying what that does to the keys on it. */
export function EditPlan({ plan, isConfirming, setConfirming }: EditPlanProps) {
  const store = useStore();
  const refresh = usePlanRefresh();
  // The dialog still shows the proposed limits while it fades.
  const [proposed, setProposed] = useState(() => toLimitValues(plan));
  const saveButton = useRef<HTMLButtonElement>(null);
  const closeConfirmation = () => {
    setConfirming(false);
    saveButton.current?.focus();
  };
  const { form, whenValid, send, error, isPending } = useSubmission({
    initialValues: toLimitValues(plan),
    validate: (values) => limitErrors(values),
    // The dialog closes first, so that a failure can then move the focus to a field.
    send: (values) => savePlan(store, { name: plan.name, ...values }).finally(closeConfirmation),
    onSent: (saved) => {
      const message = `The limits of ${saved.name} apply within a second.`;
      notifications.show({ title: 'Plan saved', message });
      refresh(saved);
    },
  });
  useDidUpdate(() => {
    form.setInitialValues(toLimitValues(plan));
    form.reset();
  }, [plan.perMinute, plan.perDay]);
  // Going back closes the drawer without an answer.
  useEffect(() => () => setConfirming(false), [setConfirming]);
  if (plan.perMinute === null) {
    return <Text c="dimmed">This plan has no limits: each key on it has its own limits.</Text>;
  }
  const confirm = (values: LimitValues) => {
    setProposed(values);
    setConfirming(true);
  };
  return (
    <form onSubmit={whenValid(confirm)} noValidate>
      <Stack>
        {error !== null && <FormError error={error} title="The plan was not saved" />}
        <LimitFields form={form} label="Requests" withAsterisk />
        <Group justify="flex-end">
          <ScopedButton scope="admin:write" ref={saveButton} type="submit">
            Save…
          </ScopedButton>
        </Group>
      </Stack>
      <Modal
        opened={isConfirming}
        onClose={closeConfirmation}
        returnFocus={false}
        title={`Change the limits of ${plan.name}?`}
      >
        <Confirmation
          plan={plan}
          proposed={proposed}
          isPending={isPending}
          onCancel={closeConfirmation}
          onConfirm={() => send(proposed)}
        />
      </Modal>
    </form>
  );
}

interface ConfirmationProps {
  plan: Plan;
  proposed: LimitValues;
  isPending: boolean;
  onCancel: () => void;
  onConfirm: () => void;
}

function Confirmation({ plan, proposed, isPending, onCancel, onConfirm }: ConfirmationProps) {
  return (
    <Stack>
      <Text>
        From {numberText(plan.perMinute ?? 0)} per minute and {numberText(plan.perDay ?? 0)} per day to{' '}
        <b>{numberText(Number(proposed.perMinute))} per minute</b> and{' '}
        <b>{numberText(Number(proposed.perDay))} per day</b>.
      </Text>
      <Text c="dimmed" size="sm">
        The change applies within a second to every key on this plan without own limits. What they have used
        of the current minute and day stays counted.
      </Text>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button loading={isPending} onClick={onConfirm} data-autofocus>
          Change limits
        </Button>
      </Group>
    </Stack>
  );
}

function toLimitValues({ perMinute, perDay }: Plan) {
  return { perMinute: String(perMinute ?? ''), perDay: String(perDay ?? '') };
}
