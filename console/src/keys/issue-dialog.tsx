import { Input, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { IssuedKey, Plan } from 'animal-store-client';
import { useState } from 'react';
import { ExpiryFields, expiryFault, expiryOf } from '../form/expiry-fields';
import { useCreation } from '../form/use-creation';
import { useStore } from '../session/session';
import { FormDialog } from './form-dialog';
import { LabelFields, labelOf } from './label-fields';
import { PlanFields } from './plan-fields';
import { limitFaults, planOf } from './plan-values';
import { plansQuery } from './plans-query';

interface IssueDialogProps {
  opened: boolean;
  onClose: () => void;
  onIssued: (key: IssuedKey) => void;
}

const NO_RESPONSE =
  'A key may have been issued all the same. Look for its name in the list before you issue another, and revoke it there: nobody has seen it.';

/** Asks for a new key and issues it, with a quota of its own. */
export function IssueDialog(props: IssueDialogProps) {
  const { data: plans } = useQuery(plansQuery(useStore()));
  const [opening, setOpening] = useState(0);
  return (
    <IssueForm
      // Each opening begins anew, with the first plan as the default.
      key={`${opening}${plans?.[0]?.name}`}
      {...props}
      plans={plans ?? []}
      onExited={() => setOpening(opening + 1)}
    />
  );
}

function IssueForm(props: IssueDialogProps & { plans: Plan[]; onExited: () => void }) {
  const { opened, onClose, onIssued, plans, onExited } = props;
  const store = useStore();
  const [initialValues] = useState({
    name: '',
    note: '',
    plan: plans[0]?.name ?? '',
    perMinute: '',
    perDay: '',
    role: 'client',
    expires: '',
    expiresAt: '',
  });
  const [values, setValues] = useState(initialValues);
  const planNamed = (name: string) => plans.find((plan) => plan.name === name);
  const { form, submit, error, isPending } = useCreation({
    initialValues,
    validate: (given) => ({ ...limitFaults(given, planNamed(given.plan)), ...expiryFault(given) }),
    create: (given): Promise<IssuedKey> => {
      const role = given.role === 'admin' ? 'admin' : 'client';
      return store.admin.keys.issue({ ...labelOf(given), ...planOf(given), role, ...expiryOf(given) });
    },
    onCreated: onIssued,
    onValuesChange: setValues,
  });
  return (
    <FormDialog
      opened={opened}
      title="Issue key"
      action="Issue key"
      failure="No key was issued"
      noResponse={NO_RESPONSE}
      isPending={isPending}
      error={error}
      onSubmit={submit}
      onClose={onClose}
      onExited={onExited}
    >
      <LabelFields form={form} />
      <PlanFields form={form} plans={plans} plan={planNamed(values.plan)} />
      <Input.Wrapper
        label="Role"
        labelElement="div"
        description={values.role === 'admin' ? 'It can issue, change and revoke every key' : undefined}
        inputWrapperOrder={['label', 'input', 'description']}
      >
        <SegmentedControl
          fullWidth
          aria-label="Role"
          value={values.role}
          onChange={(role) => form.setFieldValue('role', role)}
          data={[
            { value: 'client', label: 'Client' },
            { value: 'admin', label: 'Administrator' },
          ]}
        />
      </Input.Wrapper>
      <ExpiryFields form={form} values={values} label="Expires" none="Never" />
    </FormDialog>
  );
}
