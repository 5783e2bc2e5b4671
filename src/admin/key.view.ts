import type { Prisma } from '../database/generated/client.js';
import type { Key, KeyState } from './key.schemas.js';

/** The relations that are read with a key. */
export const KEY_RELATIONS = {
  quota: { include: { plan: true } },
  successor: { select: { id: true } },
} satisfies Prisma.ApiKeyInclude;

export type KeyRecord = Prisma.ApiKeyGetPayload<{ include: typeof KEY_RELATIONS }>;

interface EffectiveLimits {
  perMinute: number | null;
  perDay: number | null;
}

interface QuotaLimits extends EffectiveLimits {
  plan: EffectiveLimits;
}

/** Returns the effective limits of a quota: its own, else its plan's; null if direct SQL has left it without any. */
export function effectiveLimits({ perMinute, perDay, plan }: QuotaLimits): EffectiveLimits {
  return { perMinute: perMinute ?? plan.perMinute, perDay: perDay ?? plan.perDay };
}

/** Returns the state of a key at `nowMs`. A rotated key is valid until its overlap ends, which is when it expires. */
export function stateOf(
  { revokedAt, expiresAt, successor }: Pick<KeyRecord, 'expiresAt' | 'revokedAt' | 'successor'>,
  nowMs: number,
): KeyState {
  if (revokedAt !== null) {
    return 'revoked';
  }
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) {
    return 'expired';
  }
  return successor === null ? 'active' : 'rotating';
}

/** Returns a key as it is shown to administrators at `nowMs`. */
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
    ...effectiveLimits(quota),
    ownLimits: quota.perMinute !== null,
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    predecessorId,
    successorId: successor?.id ?? null,
  };
}
