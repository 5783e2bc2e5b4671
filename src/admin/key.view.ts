import type { Prisma } from '../database/generated/client.js';
import type { Key } from './key.schemas.js';

/** What a key's record is read with. */
export const WHOLE = {
  quota: { include: { plan: true } },
  successor: { select: { id: true } },
} satisfies Prisma.ApiKeyInclude;

export type KeyRecord = Prisma.ApiKeyGetPayload<{ include: typeof WHOLE }>;

interface NumbersInForce {
  perMinute: number | null;
  perDay: number | null;
}

interface NumbersOfQuota extends NumbersInForce {
  plan: NumbersInForce;
}

/** The numbers in force for a quota: its own, else its plan's; null where SQL has left it without. */
export function limitsInForce({ perMinute, perDay, plan }: NumbersOfQuota): NumbersInForce {
  return { perMinute: perMinute ?? plan.perMinute, perDay: perDay ?? plan.perDay };
}

/** Whether a key is valid at `nowMs`. */
export function stateOf(key: Pick<KeyRecord, 'expiresAt' | 'revokedAt'>, nowMs: number): Key['state'] {
  if (key.revokedAt !== null) {
    return 'revoked';
  }
  return key.expiresAt !== null && key.expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}

/** A key as administrators see it at `nowMs`. */
export function keyView(record: KeyRecord, bannedUntil: Date | null, nowMs: number): Key {
  const { id, name, role, prefix, lastFour, quotaId, quota, predecessorId, successor } = record;
  return {
    id,
    name,
    role,
    state: stateOf(record, nowMs),
    prefix,
    lastFour,
    quotaId,
    plan: quota.planName,
    ...limitsInForce(quota),
    ownLimits: quota.perMinute !== null,
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    predecessorId,
    successorId: successor?.id ?? null,
  };
}
