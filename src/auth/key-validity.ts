import { Prisma } from '../database/generated/client.js';

/**
 * When a key is valid, in the three languages that judge it; `test/keys/key-validity.spec.ts` compares them.
 * `nowMs` is always the database's time, because replicas whose clocks differ must agree. A revocation is
 * permanent, and a suspension lasts until it is lifted, so their times are compared with no clock.
 *
 * A key that has not ended is live. A suspended key is live too, but not valid until it is resumed.
 */

/** Returns how a key has ended at `nowMs`, or null if it is live. */
export function findKeyEnd(isRevoked: boolean, expiresAt: Date | null, nowMs: number) {
  if (isRevoked) {
    return 'revoked';
  }
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? 'expired' : null;
}

/** Returns why a key is not valid at `nowMs`, or null if it is valid. */
export function findInvalidity(
  isRevoked: boolean,
  isSuspended: boolean,
  expiresAt: Date | null,
  nowMs: number,
) {
  return findKeyEnd(isRevoked, expiresAt, nowMs) ?? (isSuspended ? 'suspended' : null);
}

/** Returns the condition of Prisma for the keys that are live at `nowMs`. */
export function whereLive(nowMs: number) {
  const unexpired = [{ expiresAt: null }, { expiresAt: { gt: new Date(nowMs) } }];
  return { revokedAt: null, OR: unexpired } satisfies Prisma.ApiKeyWhereInput;
}

/** Returns the condition of Prisma for the keys that are valid at `nowMs`. */
export function whereValid(nowMs: number) {
  return { ...whereLive(nowMs), suspendedAt: null } satisfies Prisma.ApiKeyWhereInput;
}

/** Returns the SQL of `whereLive` for the key `k`. */
export function isLiveAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`(k.revoked_at IS NULL AND coalesce(k.expires_at > ${new Date(nowMs)}, true))`;
}

/** Returns the SQL of `whereValid` for the key `k`. */
export function isValidAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`(${isLiveAt(nowMs)} AND k.suspended_at IS NULL)`;
}

/** Returns the SQL of whether the key `k`, which may have been revoked since, was live at an instant. */
export function wasLiveAt(instant: string): Prisma.Sql {
  return Prisma.sql`(
    coalesce(k.revoked_at > ${instant}::timestamptz, true)
    AND coalesce(k.expires_at > ${instant}::timestamptz, true)
  )`;
}

/**
 * Returns the state of a key at `nowMs`. A rotated key is valid until its overlap ends, which is when it
 * expires.
 */
export function keyState(
  {
    revokedAt,
    suspendedAt,
    expiresAt,
    successor,
  }: { [Time in 'revokedAt' | 'suspendedAt' | 'expiresAt']: Date | null } & { successor: unknown },
  nowMs: number,
) {
  const reason = findInvalidity(revokedAt !== null, suspendedAt !== null, expiresAt, nowMs);
  return reason ?? (successor === null ? 'active' : 'rotating');
}

/** Returns the SQL of `keyState` for the key `k`. */
export function stateAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN k.expires_at <= ${new Date(nowMs)} THEN 'expired'
    WHEN k.suspended_at IS NOT NULL THEN 'suspended'
    WHEN EXISTS (SELECT FROM api_keys successor WHERE successor.predecessor_id = k.id) THEN 'rotating'
    ELSE 'active'
  END`;
}
