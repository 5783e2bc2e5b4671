/**
 * The plans that a new database has, by name, with their limits. Each quota on Enterprise has its own limits.
 * Administrators may change the limits and add plans.
 */
export const BUILT_IN_PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: null, perDay: null },
} as const;

export type BuiltInPlan = keyof typeof BUILT_IN_PLANS;

/** The names of the built-in plans, the smallest first. */
export const BUILT_IN_PLAN_NAMES = Object.keys(BUILT_IN_PLANS) as BuiltInPlan[];
