import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Plan } from 'animal-store-client';
import { useEffect, useRef, useState } from 'react';
import { FormError } from '../feedback/form-error';
import { LimitFields } from '../form/limit-fields';
import { limitErrors } from '../form/limit-values';
import { ScopedButton } from '../form/scoped-button';
import { useSubmission } from '../form/use-submission';
import { numberText } from '../format/number';
import { useStore } from '../session/session';
import { LifetimeField } from './lifetime-field';
import { usePlanRefresh } from './plan-query';
import { lifetimeError, savePlan } from './plan-values';

export interface EditPlanProps {
  plan: Plan;
  /** Whether the dialog that confirms the change is open. The drawer ignores Escape then. */
  isConfirming: boolean;
  setConfirming: (isConfirming: boolean) => void;
}

/** Changes a plan, after saying what that does to the keys on it. */
export function EditPlan({ plan, isConfirming, setConfirming }: EditPlanProps) {
  const store = useStore();
  const refresh = usePlanRefresh();
  // The dialog still shows the proposed limits while it fades.
  const [proposed, setProposed] = useState(() => toValues(plan));
  const saveButton = useRef<HTMLButtonElement>(null);
  const closeConfirmation = () => {
    setConfirming(false);
    saveButton.current?.focus();
  };
  const hasLimits = plan.perMinute !== null;
  const { form, whenValid, send, error, isPending } = useSubmission({
    initialValues: toValues(plan),
    validate: (values) => ({ ...(hasLimits && limitErrors(values)), ...lifetimeError(values) }),
    // The dialog closes first, so that a failure can then move the focus to a field.
    send: (values) => savePlan(store, { name: plan.name, ...values }).finally(closeConfirmation),
    onSent: (saved) => {
      const message = `The limits of ${saved.name} apply within a second.`;
      notifications.show({ title: 'Plan saved', message });
      refresh(saved);
    },
  });
  useDidUpdate(() => {
    form.setInitialValues(toValues(plan));
    form.reset();
  }, [plan.perMinute, plan.perDay, plan.maxKeyLifetimeDays]);
  // Going back closes the drawer without an answer.
  useEffect(() => () => setConfirming(false), [setConfirming]);
  const confirm = (values: Values) => {
    setProposed(values);
    setConfirming(true);
  };
  return (
    <form onSubmit={whenValid(confirm)} noValidate>
      <Stack>
        {error !== null && <FormError error={error} title="The plan was not saved" />}
        {hasLimits ? (
          <LimitFields form={form} label="Requests" withAsterisk />
        ) : (
          <Text c="dimmed">This plan has no limits: each key on it has its own limits.</Text>
        )}
        <LifetimeField form={form} />
        <Group justify="flex-end">
          <ScopedButton scope="admin:write" ref={saveButton} type="submit">
            Save
          </ScopedButton>
        </Group>
      </Stack>
      <Modal
        opened={isConfirming}
        onClose={closeConfirmation}
        returnFocus={false}
        title={`Change ${changesLimits(plan, proposed) ? 'the limits of ' : ''}${plan.name}?`}
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
  proposed: Values;
  isPending: boolean;
  onCancel: () => void;
  onConfirm: () => void;
}

function Confirmation({ plan, proposed, isPending, onCancel, onConfirm }: ConfirmationProps) {
  const { perMinute, perDay } = toValues(plan);
  return (
    <Stack>
      {changesLimits(plan, proposed) && (
        <>
          <Text>
            From {numberText(Number(perMinute))} per minute and {numberText(Number(perDay))} per day to{' '}
            <b>{numberText(Number(proposed.perMinute))} per minute</b> and{' '}
            <b>{numberText(Number(proposed.perDay))} per day</b>.
          </Text>
          <Text c="dimmed" size="sm">
            The change applies within a second to every key on this plan without own limits. What they have
            used of the current minute and day stays counted.
          </Text>
        </>
      )}
      {lifetimeText(proposed) !== lifetimeText(toValues(plan)) && (
        <Text>
          From now on, new keys live for <b>{lifetimeText(proposed)}</b>. Existing keys keep their expiry.
        </Text>
      )}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button loading={isPending} onClick={onConfirm} data-autofocus>
          {changesLimits(plan, proposed) ? 'Change limits' : 'Change plan'}
        </Button>
      </Group>
    </Stack>
  );
}

type Values = ReturnType<typeof toValues>;

/** Returns whether the change is one of limits: they differ, or the lifetime is the same too. */
const changesLimits = (plan: Plan, proposed: Values) =>
  plan.perMinute !== null &&
  (Number(proposed.perMinute) !== plan.perMinute ||
    Number(proposed.perDay) !== plan.perDay ||
    lifetimeText(proposed) === lifetimeText(toValues(plan)));

const lifetimeText = ({ maxKeyLifetimeDays: days }: Values) =>
  days.trim() === '' ? 'any time' : `at most ${numberText(Number(days))} days`;

function toValues({ perMinute, perDay, maxKeyLifetimeDays }: Plan) {
  return {
    perMinute: String(perMinute ?? ''),
    perDay: String(perDay ?? ''),
    maxKeyLifetimeDays: String(maxKeyLifetimeDays ?? ''),
  };
}
