import type { PrismaService } from '../database/prisma.service.js';

/** The plans and their numbers (interface, section 8.2). Enterprise is custom: each of its quotas has its own. */
const PLANS = [
  { name: 'free', perMinute: 60, perDay: 1_000 },
  { name: 'pro', perMinute: 300, perDay: 10_000 },
  { name: 'business', perMinute: 1_000, perDay: 100_000 },
  { name: 'enterprise', perMinute: null, perDay: null },
];

/** Brings the plans to their numbers, however often it runs. */
export async function seedPlans(prisma: PrismaService): Promise<void> {
  for (const plan of PLANS) {
    await prisma.plan.upsert({ where: { name: plan.name }, create: plan, update: plan });
  }
}
