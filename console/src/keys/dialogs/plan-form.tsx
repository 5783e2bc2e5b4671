import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Plan } from 'animal-store-client';
import { Fragment } from 'react';
import { useSubmission } from '../../form/use-submission';
import { limitsText } from '../../format/limits';
import { Fact } from '../../layout/fact';
import { useStore } from '../../session/session';
import { DialogForm } from '../../form/dialog-form';
import { ExternalIdInput, toExternalId } from './external-id-input';
import type { KeyFormProps } from './key-form';
import { quotaKeysQuery } from '../key-query';
import { KeyName } from '../key-name';
import { isValid } from '../key-state';
import { PlanFields } from './plan-fields';
import { quotaChange, quotaErrors, toLimits, withQuota } from './quota-values';
import { WithPlans } from '../with-plans';

/** Changes the plan of a key's quota, the limits of the quota itself, or its external id. */
export function PlanForm(props: KeyFormProps) {
  return <WithPlans>{(plans) => <LoadedPlanForm {...props} plans={plans} />}</WithPlans>;
}

function LoadedPlanForm({ apiKey, plans, onClose, onChanged }: KeyFormProps & { plans: Plan[] }) {
  const store = useStore();
  const { data: quotaKeys } = useQuery(quotaKeysQuery(store, apiKey.quotaId));
  const others = quotaKeys?.filter((key) => key.id !== apiKey.id && isValid(key)) ?? [];
  const planNamed = (name: string) => plans.find((plan) => plan.name === name);
  const hasOwnLimits = apiKey.limitsSource === 'quota';
  const { form, ...submission } = useSubmission({
    initialValues: {
      externalId: apiKey.externalId ?? '',
      plan: apiKey.plan,
      perMinute: hasOwnLimits ? String(apiKey.perMinute) : '',
      perDay: hasOwnLimits ? String(apiKey.perDay) : '',
    },
    validate: (given) => quotaErrors(given, planNamed(given.plan)),
    send: (given) =>
      store.admin.quotas.update(apiKey.quotaId, {
        ...quotaChange(given),
        ...(toExternalId(given) !== apiKey.externalId && { externalId: toExternalId(given) }),
      }),
    onSent: (quota) => onChanged(withQuota(apiKey, quota)),
  });
  const plan = planNamed(form.values.plan);
  return (
    <DialogForm
      action="Change plan"
      failure="The plan was not changed"
      submission={submission}
      onClose={onClose}
    >
      <PlanFields form={form} plans={plans} plan={plan} />
      <ExternalIdInput form={form} />
      <div>
        <Fact label="Limits now">{limitsText(apiKey)}</Fact>
        <Fact label="New limits">{limitsText(toLimits(form.values, plan), 'Not complete')}</Fact>
      </div>
      <Text size="sm">
        The new limits apply within a second. What was counted in this minute and today is kept.
      </Text>
      {others.length > 0 && (
        <Text size="sm" component="div">
          The changes also apply to the other keys on the quota:{' '}
          {others.map((each, index) => (
            <Fragment key={each.id}>
              {index > 0 && ', '}
              <KeyName apiKey={each} />
            </Fragment>
          ))}
          .
        </Text>
      )}
    </DialogForm>
  );
}
