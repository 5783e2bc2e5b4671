import type { Key, Plan, Quota } from 'animal-store-client';
import { limitErrors, type LimitValues, wholeNumber } from '../../form/limit-values';
import type { LimitPair } from '../../format/limits';

/** The values of a form on the plan of a quota; empty limits stand for those of the plan. */
export interface QuotaValues extends LimitValues {
  plan: string;
}

/**
 * Returns what is wrong with a quota: it has a plan, and both own limits or neither, but both on a plan
 * without limits.
 */
export function quotaErrors(values: QuotaValues, plan: Plan | undefined): Partial<QuotaValues> {
  if (plan === undefined) {
    return { plan: 'Choose a plan' };
  }
  if (plan.perMinute === null) {
    return limitErrors(values, 'This plan needs a limit');
  }
  return hasOwnLimits(values) ? limitErrors(values, 'Give both limits or neither') : {};
}

/** Returns the fields of a request for a new quota, or to try limits, from valid values. */
export function quotaFields(values: QuotaValues) {
  const { plan, perMinute, perDay } = values;
  return hasOwnLimits(values) ? { plan, perMinute: Number(perMinute), perDay: Number(perDay) } : { plan };
}

/** Returns the fields of a request to change a quota from valid values; null removes own limits. */
export function quotaChange(values: QuotaValues) {
  return { perMinute: null, perDay: null, ...quotaFields(values) };
}

/** Returns a key as it is after a change of its quota. */
export function withQuota<Shown extends Key>(key: Shown, quota: Quota): Shown {
  const { externalId, plan, perMinute, perDay, limitsSource, bannedUntil, warnings } = quota;
  return { ...key, externalId, plan, perMinute, perDay, limitsSource, bannedUntil, warnings };
}

/** Returns the limits that the values lead to; null if a value is no limit, such as while it is typed. */
export function toLimits(values: QuotaValues, plan: Plan | undefined): LimitPair {
  return hasOwnLimits(values)
    ? { perMinute: wholeNumber(values.perMinute), perDay: wholeNumber(values.perDay) }
    : { perMinute: plan?.perMinute ?? null, perDay: plan?.perDay ?? null };
}

function hasOwnLimits({ perMinute, perDay }: LimitValues): boolean {
  return perMinute.trim() !== '' || perDay.trim() !== '';
}
