import { hashApiKey, keyHints } from '../auth/rules/api-key.js';
import { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/in-transaction.js';
import { ApiError } from '../errors/api-error.js';
import { isKeyId, type KeyState } from './key.schemas.js';
import { KEY_RELATIONS, type KeyRecord } from './key.view.js';

/** Selects a page of keys: `limit` keys, oldest first, after the id `after`. */
export interface PageOfKeys {
  limit: number;
  after?: string | undefined;
  plan?: string | undefined;
  banned?: boolean | undefined;
  state?: KeyState | undefined;
  /** Only keys whose name contains this text, ignoring case, or whose id or key ends with it. */
  search?: string | undefined;
}

/** Returns the columns that are stored of a key. */
export function storedFields(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

/** @throws ApiError `not_found`. */
export async function findKey(database: Database, id: string): Promise<KeyRecord> {
  const record = isKeyId(id)
    ? await database.apiKey.findUnique({ where: { id }, include: KEY_RELATIONS })
    : null;
  if (record === null) {
    throw new ApiError('not_found', `There is no key with the id "${id}".`);
  }
  return record;
}

/**
 * Returns the key after locking it and its quota, so that concurrent changes are serialized.
 *
 * @throws ApiError `not_found`.
 */
export async function lockKey(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  if (isKeyId(id)) {
    await transaction.$queryRaw`
      SELECT 1 FROM api_keys k JOIN quotas q ON q.id = k.quota_id WHERE k.id = ${id}::uuid FOR NO KEY UPDATE`;
  }
  return findKey(transaction, id);
}

/** Returns the keys of a page at `nowMs`, and one more if another page follows. */
export async function findKeys(
  database: Database,
  { limit, after, plan, banned, state, search }: PageOfKeys,
  bannedQuotas: string[],
  nowMs: number,
): Promise<KeyRecord[]> {
  // One array, since there may be more banned quotas than a statement may have parameters.
  const isBanned = Prisma.sql`k.quota_id = ANY (${bannedQuotas}::uuid[])`;
  const ids = await database.$queryRaw<{ id: string }[]>`
    SELECT k.id FROM api_keys k JOIN quotas q ON q.id = k.quota_id
    WHERE true
      ${after === undefined ? Prisma.empty : Prisma.sql`AND k.id > ${after}::uuid`}
      ${plan === undefined ? Prisma.empty : Prisma.sql`AND q.plan = ${plan}`}
      ${banned === undefined ? Prisma.empty : Prisma.sql`AND ${isBanned} = ${banned}`}
      ${state === undefined ? Prisma.empty : Prisma.sql`AND ${stateAt(nowMs)} = ${state}`}
      ${search === undefined ? Prisma.empty : Prisma.sql`AND ${matches(search)}`}
    ORDER BY k.id
    LIMIT ${limit + 1}`;
  return database.apiKey.findMany({
    where: { id: { in: ids.map(({ id }) => id) } },
    include: KEY_RELATIONS,
    orderBy: { id: 'asc' },
  });
}

/** Returns the SQL of `stateOf` for the key `k` at `nowMs`. */
function stateAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN k.expires_at <= ${new Date(nowMs)} THEN 'expired'
    WHEN EXISTS (SELECT FROM api_keys successor WHERE successor.predecessor_id = k.id) THEN 'rotating'
    ELSE 'active'
  END`;
}

/** Returns the condition that the key `k` matches a search. */
function matches(search: string): Prisma.Sql {
  return Prisma.sql`(
    strpos(lower(k.name), lower(${search})) > 0
    OR right(k.id::text, ${search.length}::int) = lower(${search})
    OR right(k.last_four, ${search.length}::int) = ${search}
  )`;
}
