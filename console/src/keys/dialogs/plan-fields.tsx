import { NativeSelect } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Plan } from 'animal-store-client';
import { LimitFields } from '../../form/limit-fields';
import { limitsText } from '../../format/limits';
import type { QuotaValues } from './quota-values';

interface PlanFieldsProps<Values extends QuotaValues> {
  form: UseFormReturnType<Values>;
  plans: Plan[];
  /** The chosen plan, if any. */
  plan: Plan | undefined;
}

/** Asks for the plan of a quota, and for its own limits. */
export function PlanFields<Values extends QuotaValues>({ form, plans, plan }: PlanFieldsProps<Values>) {
  const isWithoutLimits = plan !== undefined && plan.perMinute === null;
  return (
    <>
      <NativeSelect
        {...form.getInputProps('plan')}
        label="Plan"
        data={[
          ...(plan === undefined ? [{ value: '', label: 'Choose a plan' }] : []),
          ...plans.map((each) => ({
            value: each.name,
            label: `${each.name} (${limitsText(each, 'needs own limits')})`,
          })),
        ]}
      />
      <LimitFields
        form={form}
        label="Own limit"
        placeholder={isWithoutLimits ? '' : 'As the plan'}
        withAsterisk={isWithoutLimits}
      />
    </>
  );
}
