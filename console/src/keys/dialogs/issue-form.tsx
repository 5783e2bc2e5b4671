import { Input, SegmentedControl, Text } from '@mantine/core';
import type { IssuedKey, Plan } from 'animal-store-client';
import { expiryError, ExpiryFields, toExpiry } from '../../form/expiry-fields';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import { LabelFields, toLabel } from './label-fields';
import { PlanFields } from './plan-fields';
import { quotaErrors, quotaFields } from './quota-values';
import { RestrictionFields, toRestrictions } from './restriction-fields';

interface IssueFormProps {
  plans: Plan[];
  onClose: () => void;
  onIssued: (key: IssuedKey) => void;
}

const NO_RESPONSE =
  'A key may have been issued all the same. Look for its name in the list before you issue another, ' +
  'and revoke it there: nobody has seen it.';

/** Asks for a new key and issues it, with a quota of its own. */
export function IssueForm({ plans, onClose, onIssued }: IssueFormProps) {
  const store = useStore();
  const planNamed = (name: string) => plans.find((plan) => plan.name === name);
  const { form, ...submission } = useSubmission({
    initialValues: {
      name: '',
      note: '',
      plan: plans[0]?.name ?? '',
      perMinute: '',
      perDay: '',
      role: 'client',
      scopes: '',
      allowedNetworks: '',
      expires: '',
      expiresAt: '',
    },
    validate: (given) => ({ ...quotaErrors(given, planNamed(given.plan)), ...expiryError(given) }),
    send: (given): Promise<IssuedKey> => {
      const role = given.role === 'admin' ? 'admin' : 'client';
      const quota = quotaFields(given);
      const restrictions = toRestrictions(given, role);
      return store.admin.keys.issue({
        ...toLabel(given),
        ...quota,
        role,
        ...restrictions,
        ...toExpiry(given),
      });
    },
    onSent: onIssued,
  });
  return (
    <DialogForm
      action="Issue key"
      failure="No key was issued"
      noResponse={NO_RESPONSE}
      submission={submission}
      onClose={onClose}
    >
      <LabelFields form={form} />
      <PlanFields form={form} plans={plans} plan={planNamed(form.values.plan)} />
      <Input.Wrapper
        label="Role"
        labelElement="div"
        description={form.values.role === 'admin' ? 'It can issue, change and revoke every key' : undefined}
        inputWrapperOrder={['label', 'input', 'description']}
      >
        <SegmentedControl
          fullWidth
          aria-label="Role"
          {...form.getInputProps('role')}
          data={[
            { value: 'client', label: 'Client' },
            { value: 'admin', label: 'Administrator' },
          ]}
        />
      </Input.Wrapper>
      <RestrictionFields form={form} role={form.values.role} />
      <ExpiryFields form={form} label="Expires" none="Never" />
      <Text size="sm">The key works at once. It is shown only once, when it is issued.</Text>
    </DialogForm>
  );
}
