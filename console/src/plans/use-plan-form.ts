import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type AnimalStore, NotFoundError, type Plan, ValidationError } from 'animal-store-client';
import { faultsOf } from '../form/field-faults';
import { useStore } from '../session/session';

const FIELDS = ['name', 'perMinute', 'perDay'] as const;
const DIGITS = /^\d{1,10}$/;

export interface PlanValues {
  name: string;
  perMinute: string;
  perDay: string;
}

/** A plan to create has the name of an existing one, whose limits would change. */
class PlanExistsError extends Error {}

/** A form that sets the limits of a plan, or creates a plan. */
export function usePlanForm(
  initialValues: PlanValues,
  onSaved: (plan: Plan) => void,
  { isNew = false }: { isNew?: boolean } = {},
) {
  const store = useStore();
  const queries = useQueryClient();
  const limit = (text: string) => (DIGITS.test(text.trim()) ? null : 'Enter a whole number of requests');
  const form = useForm<PlanValues>({
    mode: 'uncontrolled',
    initialValues,
    validate: { name: (name) => (name === '' ? 'Enter a name' : null), perMinute: limit, perDay: limit },
  });
  const saving = useMutation({
    mutationFn: async ({ name, perMinute, perDay }: PlanValues) => {
      if (isNew && (await exists(store, name))) {
        throw new PlanExistsError();
      }
      return store.admin.plans.set(name, { perMinute: Number(perMinute), perDay: Number(perDay) });
    },
    onSuccess: (plan) => {
      for (const list of ['plans', 'keys', 'own-key', 'audit']) {
        void queries.invalidateQueries({ queryKey: [list] });
      }
      onSaved(plan);
    },
    onError: (error) => {
      if (error instanceof PlanExistsError) {
        form.setFieldError('name', 'This plan exists already: open it to change its limits');
      }
      if (error instanceof ValidationError) {
        form.setErrors(faultsOf(error.message, FIELDS).fields);
      }
    },
  });
  const { error } = saving;
  const isBesideFields =
    error instanceof PlanExistsError ||
    (error instanceof ValidationError && faultsOf(error.message, FIELDS).rest === null);
  return { form, saving, error: isBesideFields ? null : error };
}

async function exists(store: AnimalStore, name: string): Promise<boolean> {
  try {
    await store.admin.plans.get(name);
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) {
      return false;
    }
    throw error;
  }
}
