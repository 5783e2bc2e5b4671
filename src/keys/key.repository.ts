import { hashApiKey, keyHints } from '../auth/rules/api-key.js';
import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/in-transaction.js';
import { requireKey } from '../auth/require-key.js';
import { DAY_MS, toDay } from '../rate-limit/rules/windows.js';
import { quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import type { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { isUuid } from '../schemas/uuid.js';
import { ApiError } from '../http/api-error.js';
import { KEY, type KeyRecord } from './key.view.js';

/** The valid keys that a quota may have, those of an overlap included. */
export const VALID_KEYS_MAX = 20;

/** Returns the columns that are stored of a key. */
export function storedFields(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

/** @throws ApiError `not_found`. */
export function findKey(database: Database, id: string): Promise<KeyRecord> {
  return requireKey(id, (where) => database.apiKey.findUnique({ where, ...KEY }));
}

/**
 * Locks the quota of a key, so that concurrent changes of its keys are serialized. Returns its id, or null if
 * there is no such key.
 */
export async function lockQuotaOf(transaction: Prisma.TransactionClient, keyId: string) {
  const quotas = isUuid(keyId)
    ? await transaction.$queryRaw<{ id: string }[]>`
        SELECT id FROM quotas WHERE id = (SELECT quota_id FROM api_keys WHERE id = ${keyId}::uuid)
        FOR NO KEY UPDATE`
    : [];
  return quotas[0]?.id ?? null;
}

/**
 * Returns the key after locking its quota.
 *
 * @throws ApiError `not_found`.
 */
export async function lockKey(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  await lockQuotaOf(transaction, id);
  return findKey(transaction, id);
}

/**
 * Checks that a locked quota has room for another key at `nowMs`.
 *
 * @throws ApiError `conflict` if it has `VALID_KEYS_MAX` valid keys.
 */
export async function requireRoomForKey(
  transaction: Prisma.TransactionClient,
  quotaId: string,
  nowMs: number,
) {
  const unexpired = [{ expiresAt: null }, { expiresAt: { gt: new Date(nowMs) } }];
  const valid = await transaction.apiKey.count({ where: { quotaId, revokedAt: null, OR: unexpired } });
  if (valid >= VALID_KEYS_MAX) {
    throw new ApiError(
      'conflict',
      `The quota has ${VALID_KEYS_MAX} valid keys, the maximum: revoke one, or ask an administrator.`,
    );
  }
}

/** Returns how many of these keys were issued in the UTC day of `nowMs`. */
export function countIssuedToday(database: Database, keys: Prisma.ApiKeyWhereInput, nowMs: number) {
  const createdAt = { gte: new Date(toDay(nowMs) * DAY_MS) };
  return database.apiKey.count({ where: { ...keys, createdAt } });
}

/**
 * Returns the keys that someone may have derived from this one and that are valid at `nowMs`: its successors,
 * the keys that holders issued by it, and those of each.
 */
export async function findDerivedKeys(
  transaction: Prisma.TransactionClient,
  id: string,
  nowMs: number,
): Promise<KeyRecord[]> {
  const derived = await transaction.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE derived AS (
      SELECT ${id}::uuid AS id
      UNION
      SELECT k.id FROM derived d JOIN api_keys k ON k.predecessor_id = d.id OR k.issuer_id = d.id
    )
    SELECT id FROM derived JOIN api_keys k USING (id)
    WHERE id <> ${id}::uuid AND revoked_at IS NULL AND coalesce(expires_at > ${new Date(nowMs)}, true)`;
  const where = { id: { in: derived.map((key) => key.id) } };
  return transaction.apiKey.findMany({ where, orderBy: { id: 'asc' }, ...KEY });
}

/**
 * Returns when the ban of a quota ends, or null if there is none. While the counter store is away, it is the
 * ban that this replica last knew.
 */
export async function findBanEnd(counters: FallbackCounterStore, quotaId: string): Promise<Date | null> {
  // A ban does not depend on the limits.
  const { ban } = await counters.peek({ bucketKey: quotaBucketKey(quotaId), perMinute: 1, perDay: 1 });
  return ban === null ? null : new Date(ban.untilMs);
}
