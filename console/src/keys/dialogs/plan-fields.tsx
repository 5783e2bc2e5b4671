import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Plan } from 'animal-store-client';
import { limitsText } from '../../format/limits';
import type { QuotaValues } from './quota-values';

interface PlanFieldsProps<Values extends QuotaValues> {
  form: UseFormReturnType<Values>;
  plans: Plan[];
  /** The chosen plan. */
  plan: Plan | undefined;
}

/** Asks for the plan of a quota, and for limits of its own. */
export function PlanFields<Values extends QuotaValues>({ form, plans, plan }: PlanFieldsProps<Values>) {
  const isWithoutLimits = plan !== undefined && plan.perMinute === null;
  const limit = {
    placeholder: isWithoutLimits ? '' : 'As the plan',
    withAsterisk: isWithoutLimits,
    inputMode: 'numeric',
    autoComplete: 'off',
  } as const;
  return (
    <>
      <NativeSelect
        key={form.key('plan')}
        {...form.getInputProps('plan')}
        label="Plan"
        data={plans.map((each) => ({
          value: each.name,
          label: `${each.name} (${limitsText(each, 'needs limits of its own')})`,
        }))}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          key={form.key('perMinute')}
          {...form.getInputProps('perMinute')}
          label="Own limit per minute"
          {...limit}
        />
        <TextInput
          key={form.key('perDay')}
          {...form.getInputProps('perDay')}
          label="Own limit per day"
          {...limit}
        />
      </SimpleGrid>
    </>
  );
}
