import { Prisma } from '../database/generated/client.js';

/**
 * When a key is valid, in the three languages that judge it; `test/keys/key-validity.spec.ts` compares them.
 * `nowMs` is always the database's time, because replicas whose clocks differ must agree. A revocation is
 * permanent, so its time is compared with no clock.
 */

/** Returns how a key has ended at `nowMs`, or null if it is valid. */
export function findKeyEnd(isRevoked: boolean, expiresAt: Date | null, nowMs: number) {
  if (isRevoked) {
    return 'revoked';
  }
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? 'expired' : null;
}

/** Returns the condition of Prisma for the keys that are valid at `nowMs`. */
export function whereValid(nowMs: number) {
  const unexpired = [{ expiresAt: null }, { expiresAt: { gt: new Date(nowMs) } }];
  return { revokedAt: null, OR: unexpired } satisfies Prisma.ApiKeyWhereInput;
}

/** Returns the SQL of `whereValid` for the key `k`. */
export function isValidAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`(k.revoked_at IS NULL AND coalesce(k.expires_at > ${new Date(nowMs)}, true))`;
}

/** Returns the SQL of whether the key `k`, which may have been revoked since, was valid at an instant. */
export function wasValidAt(instant: string): Prisma.Sql {
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
  { revokedAt, expiresAt, successor }: { revokedAt: Date | null; expiresAt: Date | null; successor: unknown },
  nowMs: number,
) {
  return findKeyEnd(revokedAt !== null, expiresAt, nowMs) ?? (successor === null ? 'active' : 'rotating');
}

/** Returns the SQL of `keyState` for the key `k`. */
export function stateAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN k.expires_at <= ${new Date(nowMs)} THEN 'expired'
    WHEN EXISTS (SELECT FROM api_keys successor WHERE successor.predecessor_id = k.id) THEN 'rotating'
    ELSE 'active'
  END`;
}
