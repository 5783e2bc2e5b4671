import type { Prisma } from '../database/generated/client.js';

export const QUOTA = { include: { plan: true } } satisfies Prisma.QuotaDefaultArgs;

export type QuotaRecord = Prisma.QuotaGetPayload<typeof QUOTA>;

/**
 * Returns the plan and the effective limits of a quota: its own, else its plan's; null if it has no limits,
 * which only direct SQL can cause.
 */
export function quotaFields({ plan, perMinute, perDay }: Pick<QuotaRecord, 'plan' | 'perMinute' | 'perDay'>) {
  return {
    plan: plan.name,
    perMinute: perMinute ?? plan.perMinute,
    perDay: perDay ?? plan.perDay,
    // Own limits go together.
    limitsSource: perMinute === null ? ('plan' as const) : ('quota' as const),
  };
}
