import type { Prisma } from '../database/generated/client.js';

export const QUOTA = { include: { plan: true } } satisfies Prisma.QuotaDefaultArgs;

export type QuotaRecord = Prisma.QuotaGetPayload<typeof QUOTA>;

/**
 * Returns whose a quota is, its plan, and its effective limits: its own, else its plan's; null if it has no
 * limits, which only direct SQL can cause.
 */
export function quotaFields({
  externalId,
  plan,
  perMinute,
  perDay,
}: Pick<QuotaRecord, 'externalId' | 'plan' | 'perMinute' | 'perDay'>) {
  return {
    externalId,
    plan: plan.name,
    perMinute: perMinute ?? plan.perMinute,
    perDay: perDay ?? plan.perDay,
    // Own limits go together.
    limitsSource: perMinute === null ? ('plan' as const) : ('quota' as const),
  };
}
