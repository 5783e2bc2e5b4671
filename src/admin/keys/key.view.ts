import type { Prisma } from '../../database/generated/client.js';
import type { Key, KeyState } from './key.schemas.js';

/** The relations that are read with a key. */
export const KEY_RELATIONS = {
  quota: { include: { plan: true } },
  successor: { select: { id: true } },
} satisfies Prisma.ApiKeyInclude;

export type KeyRecord = Prisma.ApiKeyGetPayload<{ include: typeof KEY_RELATIONS }>;

/** Returns the plan and the effective limits of a key: its quota's own, else its plan's; null if direct SQL has left it without any. */
export function planFields({ quota: { plan, perMinute, perDay } }: Pick<KeyRecord, 'quota'>) {
  return {
    plan: plan.name,
    perMinute: perMinute ?? plan.perMinute,
    perDay: perDay ?? plan.perDay,
    ownLimits: perMinute !== null,
  };
}

/** Returns the state of a key at `nowMs`. A rotated key is valid until its overlap ends, which is when it expires. */
export function keyState(
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
  const { id, name, note, role, prefix, lastFour, quotaId, predecessorId, successor } = record;
  return {
    id,
    name,
    note,
    role,
    state: keyState(record, nowMs),
    prefix,
    lastFour,
    quotaId,
    ...planFields(record),
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    predecessorId,
    successorId: successor?.id ?? null,
  };
}
