import { type AnimalStore, NotFoundError, type Plan } from 'animal-store-client';
import { planName } from '../address/search-reader';
import { FieldError } from '../form/field-errors';
import { limitErrors, type LimitValues } from '../form/limit-values';

/** The values of a form on a plan. */
interface PlanValues extends LimitValues {
  name: string;
}

/** Returns what is wrong with a plan, if anything; the service checks the range of its limits. */
export function planErrors({ name, ...limits }: PlanValues): Partial<PlanValues> {
  return { ...nameError(name), ...limitErrors(limits) };
}

/** Sets the limits of a plan. */
export function savePlan(store: AnimalStore, { name, perMinute, perDay }: PlanValues): Promise<Plan> {
  return store.admin.plans.set(name, { perMinute: Number(perMinute), perDay: Number(perDay) });
}

/** @throws FieldError if the plan exists, because its limits would change. */
export async function createPlan(store: AnimalStore, values: PlanValues): Promise<Plan> {
  if (await exists(store, values.name)) {
    throw new FieldError('name', 'This plan exists already: open it to change its limits');
  }
  return savePlan(store, values);
}

function nameError(name: string): { name?: string } {
  if (name === '') {
    return { name: 'Enter a name' };
  }
  return planName(name) !== undefined
    ? {}
    : { name: 'A name must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter' };
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
