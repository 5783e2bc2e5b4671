import type { Database } from '../../database/in-transaction.js';

/** The built-in plans and their limits. Each quota on Enterprise has its own limits. */
const PLANS = [
  { name: 'free', perMinute: 60, perDay: 1_000 },
  { name: 'pro', perMinute: 300, perDay: 10_000 },
  { name: 'business', perMinute: 1_000, perDay: 100_000 },
  { name: 'enterprise', perMinute: null, perDay: null },
];

/** Creates the missing plans, and returns the names of all. Limits that an administrator changed are kept. */
export async function seedPlans(database: Database): Promise<string[]> {
  await database.plan.createMany({ data: PLANS, skipDuplicates: true });
  return PLANS.map(({ name }) => name);
}
