import { Input, SegmentedControl, Text } from '@mantine/core';
import type { IssuedKey, Key, Plan } from 'animal-store-client';
import { expiryError, ExpiryFields, toExpiry } from '../../form/expiry-fields';
import { useSubmission } from '../../form/use-submission';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import { limitsText } from '../../format/limits';
import { countText } from '../../format/number';
import { KeyName } from '../key-name';
import { scopesOfRole } from '../scopes';
import { ExternalIdInput, toExternalId } from './external-id-input';
import { LabelFields, toLabel } from './label-fields';
import { PlanFields } from './plan-fields';
import { quotaErrors, quotaFields } from './quota-values';
import { RestrictionFields, restrictionErrors, toRestrictions, UNRESTRICTED } from './restriction-fields';

interface IssueFormProps {
  /** The plans to choose from, for a key with a quota of its own. */
  plans?: Plan[];
  /** A key whose quota the new one shares. */
  sibling?: Key;
  onClose: () => void;
  onIssued: (key: IssuedKey) => void;
}

const NO_RESPONSE =
  'A key may have been issued nevertheless. Look for its name in the list before you issue another, ' +
  'and revoke it there: nobody has seen it.';

/** Asks for a new key and issues it, with a new quota or on that of another key. */
export function IssueForm({ plans = [], sibling, onClose, onIssued }: IssueFormProps) {
  const store = useStore();
  const planNamed = (name: string) => plans.find((plan) => plan.name === name);
  const choicesFor = ({ role }: { role: string }) => scopesOfRole(role);
  const { form, ...submission } = useSubmission({
    initialValues: {
      name: '',
      note: '',
      externalId: '',
      plan: '',
      perMinute: '',
      perDay: '',
      role: 'client',
      ...UNRESTRICTED,
      expires: '',
      expiresAt: '',
    },
    validate: (given) => ({
      ...(given.name.trim() === '' && { name: 'Must not be blank' }),
      ...(sibling === undefined && quotaErrors(given, planNamed(given.plan))),
      ...restrictionErrors(given, choicesFor(given)),
      ...expiryError(given),
    }),
    send: (given): Promise<IssuedKey> => {
      const externalId = toExternalId(given);
      const ofQuota = { ...quotaFields(given), ...(externalId !== null && { externalId }) };
      const role = given.role === 'admin' ? 'admin' : 'client';
      return store.admin.keys.issue({
        ...toLabel(given),
        ...(sibling === undefined ? ofQuota : { quotaId: sibling.quotaId }),
        role,
        ...toRestrictions(given, choicesFor(given)),
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
      {sibling === undefined ? (
        <>
          <ExternalIdInput form={form} />
          <PlanFields form={form} plans={plans} plan={planNamed(form.values.plan)} />
        </>
      ) : (
        <Text size="sm">
          The key shares the quota of <KeyName apiKey={sibling} />: the plan {sibling.plan},{' '}
          {limitsText(sibling)}, its counts and its ban.
        </Text>
      )}
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
      <RestrictionFields
        form={form}
        choices={choicesFor(form.values)}
        all="All of its role"
        anywhere="Leave empty to allow any address."
      />
      <ExpiryFields form={form} label="Expires" none={longestLife(planNamed(form.values.plan), sibling)} />
      <Text size="sm">The key works at once. It is shown only once, when it is issued.</Text>
    </DialogForm>
  );
}

/** Returns when a key without a chosen expiry expires. The setting of a sibling's plan is not loaded. */
function longestLife(plan: Plan | undefined, sibling: Key | undefined): string {
  if (sibling !== undefined) {
    return `Never, or as plan ${sibling.plan} says`;
  }
  const days = plan?.maxKeyLifetimeDays ?? null;
  return days === null ? 'Never' : `In ${countText(days, 'day')}, the longest of the plan`;
}
