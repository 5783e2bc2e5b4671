import { BUILT_IN_PLANS } from '../auth/rules/built-in-plans.js';
import type { Database } from '../database/access/in-transaction.js';

/** Creates the missing plans, and returns the names of all. Limits that an administrator changed are kept. */
export async function seedPlans(database: Database): Promise<string[]> {
  const data = Object.entries(BUILT_IN_PLANS).map(([name, limits]) => ({ name, ...limits }));
  await database.plan.createMany({ data, skipDuplicates: true });
  return Object.keys(BUILT_IN_PLANS);
}
