import type { Prisma } from '../database/generated/client.js';
import type { KeyRole } from '../auth/rules/role.js';
import { findInvalidity, findKeyEnd, keyState } from '../auth/key-validity.js';
import type { Key } from './key.schemas.js';
import type { Restrictions } from './rules/further-key.js';
import { quotaFields } from './quota.view.js';
import { limitWarnings } from './warnings.js';

/**
 * What Prisma reads of a key: all but its hash, what only rotations need, and the restrictions, whose NULL it
 * would read as an empty list.
 */
const omit = {
  hash: true,
  firstUsedAt: true,
  formerLineId: true,
  scopes: true,
  allowedNetworks: true,
} as const;
export const KEY_ARGS = {
  omit,
  include: { quota: { include: { plan: true } }, successor: { omit } },
} satisfies Prisma.ApiKeyDefaultArgs;

export type KeyRecord = Prisma.ApiKeyGetPayload<typeof KEY_ARGS> & Restrictions;

/** Returns how a key has ended at `nowMs`, or null if it is live. */
export const keyEnd = ({ revokedAt, expiresAt }: KeyRecord, nowMs: number) =>
  findKeyEnd(revokedAt !== null, expiresAt, nowMs);

/** Returns why a key is not valid at `nowMs`, or null if it is valid. */
export const keyInvalidity = ({ revokedAt, suspendedAt, expiresAt }: KeyRecord, nowMs: number) =>
  findInvalidity(revokedAt !== null, suspendedAt !== null, expiresAt, nowMs);

/** Returns a key as it is shown to administrators at `nowMs`. */
export function keyView(record: KeyRecord, bannedUntil: Date | null, nowMs: number): Key {
  const { quota, successor, lineId: _lineId, generation: _generation, ...fields } = record;
  const limits = quotaFields(quota);
  return {
    ...fields,
    ...limits,
    role: record.role as KeyRole,
    state: keyState(record, nowMs),
    bannedUntil: bannedUntil?.toISOString() ?? null,
    createdAt: fields.createdAt.toISOString(),
    expiresAt: fields.expiresAt?.toISOString() ?? null,
    revokedAt: fields.revokedAt?.toISOString() ?? null,
    suspendedAt: fields.suspendedAt?.toISOString() ?? null,
    successorId: successor?.id ?? null,
    warnings: limitWarnings(limits),
  };
}
