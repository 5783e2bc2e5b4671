import type { Prisma } from '../database/generated/client.js';
import type { KeyRole } from '../http/request-line.js';
import type { Scope } from '../auth/rules/scope.js';
import type { Key, KeyState } from './key.schemas.js';

/** What is read of a key: all but its hash. */
export const KEY = {
  omit: { hash: true },
  include: { quota: { include: { plan: true } }, successor: { select: { id: true, revokedAt: true } } },
} satisfies Prisma.ApiKeyDefaultArgs;

export type KeyRecord = Prisma.ApiKeyGetPayload<typeof KEY>;

/**
 * Returns the plan and the effective limits of a key: its quota's own, else its plan's; null if it has no
 * limits, which only direct SQL can cause.
 */
export function planFields({ quota: { plan, perMinute, perDay } }: Pick<KeyRecord, 'quota'>) {
  return {
    plan: plan.name,
    perMinute: perMinute ?? plan.perMinute,
    perDay: perDay ?? plan.perDay,
    ownLimits: perMinute !== null,
  };
}

/** Returns what a key may do and from where; null for no restriction. */
export function restrictionFields(key: Pick<KeyRecord, 'scopes' | 'allowedNetworks'>) {
  const scopes = key.scopes as Scope[];
  const { allowedNetworks } = key;
  return {
    scopes: scopes.length === 0 ? null : scopes,
    allowedNetworks: allowedNetworks.length === 0 ? null : allowedNetworks,
  };
}

/**
 * Returns the state of a key at `nowMs`. A rotated key is valid until its overlap ends, which is when it
 * expires.
 */
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
  const { quota: _quota, successor, ...fields } = record;
  return {
    ...fields,
    role: record.role as KeyRole,
    ...planFields(record),
    ...restrictionFields(record),
    state: keyState(record, nowMs),
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: fields.createdAt.toISOString(),
    expiresAt: fields.expiresAt?.toISOString() ?? null,
    revokedAt: fields.revokedAt?.toISOString() ?? null,
    successorId: successor?.id ?? null,
  };
}
