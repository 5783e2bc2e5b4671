import { hashApiKey, keyHints } from '../auth/rules/api-key.js';
import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/in-transaction.js';
import { requireKey } from '../auth/require-key.js';
import { quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import type { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { isUuid } from '../schemas/uuid.js';
import { KEY, type KeyRecord } from './key.view.js';

/** Returns the columns that are stored of a key. */
export function storedFields(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

/** @throws ApiError `not_found`. */
export function findKey(database: Database, id: string): Promise<KeyRecord> {
  return requireKey(id, (where) => database.apiKey.findUnique({ where, ...KEY }));
}

/**
 * Returns the key after locking it and its quota, so that concurrent changes are serialized.
 *
 * @throws ApiError `not_found`.
 */
export async function lockKey(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  if (isUuid(id)) {
    await transaction.$queryRaw`
      SELECT 1 FROM api_keys k JOIN quotas q ON q.id = k.quota_id WHERE k.id = ${id}::uuid FOR NO KEY UPDATE`;
  }
  return findKey(transaction, id);
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
