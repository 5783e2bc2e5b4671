import type { Prisma } from '../database/generated/client.js';
import type { Quota } from './quota.schemas.js';
import { limitWarnings } from './warnings.js';

/** What is read of a quota. */
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
    limitsSource: limitsSource(perMinute),
  };
}

/** Returns where the limits of a quota with this own limit per minute come from. Own limits go together. */
export function limitsSource(ownPerMinute: number | null): Quota['limitsSource'] {
  return ownPerMinute === null ? 'plan' : 'quota';
}

/** Returns a quota as it is shown to administrators. */
export function quotaView(record: QuotaRecord, bannedUntil: Date | null, validKeyCount: number): Quota {
  const limits = quotaFields(record);
  return {
    id: record.id,
    ...limits,
    validKeyCount,
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    warnings: limitWarnings(limits),
  };
}
