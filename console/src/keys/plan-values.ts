import type { Plan } from 'animal-store-client';
import type { LimitPair } from '../format/limits';

/** The values of a form on the plan of a quota; empty limits stand for those of the plan. */
export interface PlanValues {
  plan: string;
  perMinute: string;
  perDay: string;
}

/** Returns which limits are missing, if any: both or none are needed, and both on a plan without limits. */
export function limitFaults(
  { perMinute, perDay }: PlanValues,
  plan: Plan | undefined,
): Partial<Record<'perMinute' | 'perDay', string>> {
  const isWithoutLimits = plan?.perMinute === null;
  const areNeeded = isWithoutLimits || perMinute.trim() !== '' || perDay.trim() !== '';
  const fault = isWithoutLimits ? 'This plan needs a limit' : 'Give both limits or neither';
  return {
    ...(areNeeded && perMinute.trim() === '' && { perMinute: fault }),
    ...(areNeeded && perDay.trim() === '' && { perDay: fault }),
  };
}

/** Returns the fields of a request. What is no number is sent as it is, so that the service says what is wrong with it. */
export function planOf({ plan, perMinute, perDay }: PlanValues): {
  plan: string;
  perMinute?: number;
  perDay?: number;
} {
  return {
    plan,
    ...(perMinute.trim() !== '' && { perMinute: numberOf(perMinute) }),
    ...(perDay.trim() !== '' && { perDay: numberOf(perDay) }),
  };
}

/** Returns the limits that the values lead to; null for none, as while they are typed. */
export function limitsOf({ perMinute, perDay }: PlanValues, plan: Plan | undefined): LimitPair {
  return perMinute.trim() === '' && perDay.trim() === ''
    ? { perMinute: plan?.perMinute ?? null, perDay: plan?.perDay ?? null }
    : { perMinute: integerOrNull(perMinute), perDay: integerOrNull(perDay) };
}

function numberOf(text: string): number {
  return integerOrNull(text) ?? (text as unknown as number);
}

function integerOrNull(text: string): number | null {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}
