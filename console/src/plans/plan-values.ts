import { type AnimalStore, NotFoundError, type Plan } from 'animal-store-client';
import { planName } from '../address/search-reader';
import { FieldError } from '../form/field-errors';
import { limitErrors, type LimitValues, wholeNumber } from '../form/limit-values';
import type { LifetimeValues } from './lifetime-field';

/** The values of a form on a plan. */
interface PlanValues extends LimitValues, LifetimeValues {
  name: string;
}

/** Returns what is wrong with a plan, if anything; the service checks the range of its limits. */
export function planErrors({ name, ...values }: PlanValues): Partial<PlanValues> {
  return { ...nameError(name), ...limitErrors(values), ...lifetimeError(values) };
}

export function lifetimeError({ maxKeyLifetimeDays: days }: LifetimeValues): Partial<LifetimeValues> {
  return days.trim() === '' || wholeNumber(days) !== null
    ? {}
    : { maxKeyLifetimeDays: 'Enter a whole number of days' };
}

/** Sets a plan. One without limits has empty ones. */
export function savePlan(store: AnimalStore, { name, ...values }: PlanValues): Promise<Plan> {
  const { perMinute, perDay, maxKeyLifetimeDays: days } = values;
  return store.admin.plans.set(name, {
    ...(perMinute !== '' && { perMinute: Number(perMinute) }),
    ...(perDay !== '' && { perDay: Number(perDay) }),
    maxKeyLifetimeDays: days.trim() === '' ? null : Number(days),
  });
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
