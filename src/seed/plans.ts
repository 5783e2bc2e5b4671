import type { Database } from '../database/in-transaction.js';

/** The plans and their numbers (interface, section 8.2). Enterprise is custom: each of its quotas has its own. */
const PLANS = [
  { name: 'free', perMinute: 60, perDay: 1_000 },
  { name: 'pro', perMinute: 300, perDay: 10_000 },
  { name: 'business', perMinute: 1_000, perDay: 100_000 },
  { name: 'enterprise', perMinute: null, perDay: null },
];

/** Makes the plans that are missing. Numbers that an administrator has set since stay. */
export async function seedPlans(database: Database): Promise<void> {
  await database.plan.createMany({ data: PLANS, skipDuplicates: true });
}
