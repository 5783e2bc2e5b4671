import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Plan, ValidationError } from 'animal-store-client';
import { faultsOf } from '../form/field-faults';
import { useStore } from '../session/session';

const FIELDS = ['name', 'perMinute', 'perDay'] as const;
const DIGITS = /^\d{1,10}$/;

export interface PlanValues {
  name: string;
  perMinute: string;
  perDay: string;
}

/** A form that sets the limits of a plan, and creates the plan if there is none of this name. */
export function usePlanForm(initialValues: PlanValues, onSaved: (plan: Plan) => void) {
  const store = useStore();
  const queries = useQueryClient();
  const limit = (text: string) => (DIGITS.test(text.trim()) ? null : 'Enter a whole number of requests');
  const form = useForm<PlanValues>({
    mode: 'uncontrolled',
    initialValues,
    validate: { name: (name) => (name === '' ? 'Enter a name' : null), perMinute: limit, perDay: limit },
  });
  const saving = useMutation({
    mutationFn: ({ name, perMinute, perDay }: PlanValues) =>
      Promise.resolve(store.admin.plans.set(name, { perMinute: Number(perMinute), perDay: Number(perDay) })),
    onSuccess: (plan) => {
      void queries.invalidateQueries({ queryKey: ['plans'] });
      onSaved(plan);
    },
    onError: (error) => {
      if (error instanceof ValidationError) {
        form.setErrors(faultsOf(error.message, FIELDS).fields);
      }
    },
  });
  const { error } = saving;
  const isBesideFields = error instanceof ValidationError && faultsOf(error.message, FIELDS).rest === null;
  return { form, saving, error: isBesideFields ? null : error };
}
