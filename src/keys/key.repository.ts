import { hashApiKey, keyHints, storedHashes } from '../auth/rules/api-key.js';
import { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/access/in-transaction.js';
import { isLiveAt, isValidAt, whereLive, whereValid } from '../auth/key-validity.js';
import { requireRecord } from '../auth/require-record.js';
import { DAY_MS } from '../process/time-units.js';
import { toDay } from '../rate-limit/rules/windows.js';
import { isUuid } from '../schemas/uuid.js';
import { ApiError } from '../http/routes/api-error.js';
import { KEY_ARGS, type KeyRecord } from './key.view.js';
import type { Restrictions } from './rules/further-key.js';

/** The live keys that a quota may have, those of an overlap included. A suspended key keeps its room. */
export const VALID_KEYS_MAX = 20;

export function storedFields(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

/** Returns the id of a key by the key itself, even if it has ended; null if it was never issued. */
export async function findIdByKey(database: Database, key: string): Promise<string | null> {
  const where = { hash: { in: storedHashes(hashApiKey(key)) } };
  return (await database.apiKey.findFirst({ where, select: { id: true } }))?.id ?? null;
}

/** Stores what a key may do, and from where. It is SQL because Prisma cannot set a list to NULL. */
export async function writeRestrictions(
  transaction: Prisma.TransactionClient,
  id: string,
  { scopes, allowedNetworks }: Restrictions,
): Promise<void> {
  await transaction.$executeRaw`
    UPDATE api_keys SET scopes = ${scopes}::text[], allowed_networks = ${allowedNetworks}::text[]
    WHERE id = ${id}::uuid`;
}

/** Returns the keys that a query of Prisma finds. One that is deleted by hand meanwhile is left out. */
export async function findKeys(
  database: Database,
  query: Pick<Prisma.ApiKeyFindManyArgs, 'where' | 'orderBy' | 'take'>,
): Promise<KeyRecord[]> {
  const keys = await database.apiKey.findMany({ ...query, ...KEY_ARGS });
  // SQL, because Prisma reads NULL, which is no restriction, as an empty list.
  const rows = await database.$queryRaw<({ id: string } & Restrictions)[]>`
    SELECT id, scopes, allowed_networks AS "allowedNetworks" FROM api_keys
    WHERE id = ANY (${keys.map(({ id }) => id)}::uuid[])`;
  const restrictionsById = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => {
    const restrictions = restrictionsById.get(key.id);
    return restrictions === undefined ? [] : [{ ...key, ...restrictions }];
  });
}

/** @throws ApiError `not_found`. */
export function findKey(database: Database, id: string): Promise<KeyRecord> {
  return requireRecord('key', id, async (where) => (await findKeys(database, { where }))[0] ?? null);
}

export async function createKey(
  transaction: Prisma.TransactionClient,
  data: Omit<Prisma.ApiKeyUncheckedCreateInput, keyof Restrictions>,
  restrictions: Restrictions,
): Promise<KeyRecord> {
  const { scopes, allowedNetworks } = restrictions;
  // A column that is left out is NULL. An UPDATE after this would drop the cached keys of all replicas.
  const lists = { ...(scopes && { scopes }), ...(allowedNetworks && { allowedNetworks }) };
  const { id } = await transaction.apiKey.create({ data: { ...data, ...lists }, select: { id: true } });
  return findKey(transaction, id);
}

/**
 * Returns the key after locking its quota, so that concurrent changes of its keys are serialized.
 *
 * @throws ApiError `not_found`.
 */
export async function lockKey(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  if (isUuid(id)) {
    await transaction.$queryRaw`
      SELECT FROM quotas WHERE id = (SELECT quota_id FROM api_keys WHERE id = ${id}::uuid)
      FOR NO KEY UPDATE`;
  }
  return findKey(transaction, id);
}

/**
 * Checks that a quota has room for another key at `nowMs`, for certain if it is locked.
 *
 * @throws ApiError `conflict` if it has `VALID_KEYS_MAX` live keys.
 */
export async function requireRoomForKey(database: Database, quotaId: string, nowMs: number) {
  const liveKeys = await database.apiKey.count({ where: { quotaId, ...whereLive(nowMs) } });
  if (liveKeys >= VALID_KEYS_MAX) {
    throw new ApiError(
      'conflict',
      `The quota has ${VALID_KEYS_MAX} keys that are valid or suspended, the maximum: revoke one, or ask ` +
        'an administrator.',
    );
  }
}

export function countValidKeys(database: Database, quotaId: string, nowMs: number): Promise<number> {
  return database.apiKey.count({ where: { quotaId, ...whereValid(nowMs) } });
}

/** Returns how many valid keys the quotas on each of these plans have, by the name of the plan. */
export async function countValidKeysByPlan(
  database: Database,
  plans: readonly { name: string }[],
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.$queryRaw<{ plan: string; count: number }[]>`
    SELECT q.plan, count(*)::int
    FROM api_keys k JOIN quotas q ON q.id = k.quota_id
    WHERE q.plan = ANY (${plans.map(({ name }) => name)}::text[]) AND ${isValidAt(nowMs)}
    GROUP BY q.plan`;
  return new Map(rows.map(({ plan, count }) => [plan, count]));
}

export function countIssuedToday(database: Database, keys: Prisma.ApiKeyWhereInput, nowMs: number) {
  const createdAt = { gte: new Date(toDay(nowMs) * DAY_MS) };
  return database.apiKey.count({ where: { ...keys, createdAt } });
}

/** The newest keys of a line that are read. More successors a day need an administrator. */
export const SUCCESSORS_PER_DAY_MAX = 20;

/**
 * Returns the id of the newest key of a line, and how many keys were issued in the UTC day of `nowMs`, up to
 * `SUCCESSORS_PER_DAY_MAX`, to succeed those of the line. Those that others replaced count, too.
 */
export async function readLine(database: Database, { quotaId, lineId }: InLine, nowMs: number) {
  const newest = await database.apiKey.findMany({
    where: { lineId },
    orderBy: { generation: 'desc' },
    take: SUCCESSORS_PER_DAY_MAX,
    select: { id: true, generation: true, createdAt: true },
  });
  const dayStart = new Date(toDay(nowMs) * DAY_MS);
  const today = newest.filter(({ generation, createdAt }) => generation > 0 && createdAt >= dayStart);
  const replaced = await countIssuedToday(database, { quotaId, formerLineId: lineId }, nowMs);
  const successorsToday = Math.min(today.length + replaced, SUCCESSORS_PER_DAY_MAX);
  return { newestId: newest[0]?.id, successorsToday };
}

/** Returns whether a key was ever used, by its first use and its usage, or rotated. */
export async function wasUsed(database: Database, id: string): Promise<boolean> {
  // An earlier release records no first use.
  const [row] = await database.$queryRaw<[{ used: boolean }]>`
    SELECT
      EXISTS (SELECT FROM api_keys WHERE id = ${id}::uuid AND first_used_at IS NOT NULL)
      OR EXISTS (SELECT FROM api_keys WHERE predecessor_id = ${id}::uuid)
      OR EXISTS (SELECT FROM usage WHERE key_id = ${id}::uuid)
      OR EXISTS (
        SELECT FROM usage_batches, json_to_recordset(entries) AS entry ("keyId" uuid)
        WHERE size > 0 AND "keyId" = ${id}::uuid
      ) AS used`;
  return row.used;
}

/**
 * Takes a successor out of its line, so that its predecessor may have another. Returns whether it still was
 * unused.
 */
export async function removeFromLine(transaction: Prisma.TransactionClient, id: string): Promise<boolean> {
  // A first use that is recorded at the same time waits, and then finds the key revoked.
  const removed = await transaction.$executeRaw`
    UPDATE api_keys SET predecessor_id = NULL, former_line_id = line_id, line_id = id, generation = 0
    WHERE id = ${id}::uuid AND first_used_at IS NULL`;
  return removed > 0;
}

/**
 * Returns the keys that are live at `nowMs` and derived from this one: the later keys of its line, and what
 * holders issued by it, by those, or by what they issued.
 */
export async function findDerivedKeys(
  transaction: Prisma.TransactionClient,
  key: InLine,
  nowMs: number,
): Promise<KeyRecord[]> {
  const found = await findKeysFrom(transaction, key, Prisma.sql`generation >= ${key.generation}`, nowMs);
  return found.filter(({ id }) => id !== key.id);
}

/** Returns the keys that are live at `nowMs` and that holders issued by this one or a predecessor of it. */
export async function findIssuedKeys(
  transaction: Prisma.TransactionClient,
  key: InLine,
  nowMs: number,
): Promise<KeyRecord[]> {
  const found = await findKeysFrom(transaction, key, Prisma.sql`generation <= ${key.generation}`, nowMs);
  return found.filter(({ lineId }) => lineId !== key.lineId);
}

type InLine = Pick<KeyRecord, 'id' | 'quotaId' | 'lineId' | 'generation'>;

/**
 * Returns the live keys that are, or come from, a key of this one's line that meets a condition. It begins
 * with the live keys of the quota, which are few however many keys lie between.
 */
async function findKeysFrom(
  transaction: Prisma.TransactionClient,
  { quotaId, lineId }: InLine,
  condition: Prisma.Sql,
  nowMs: number,
): Promise<KeyRecord[]> {
  const found = await transaction.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE origin AS (
      SELECT id AS live_id, line_id, generation, issuer_id FROM api_keys k
      WHERE quota_id = ${quotaId}::uuid AND ${isLiveAt(nowMs)}
      UNION
      SELECT live_id, k.line_id, k.generation, k.issuer_id
      FROM origin o JOIN api_keys k ON k.id = o.issuer_id
    )
    SELECT DISTINCT live_id AS id FROM origin
    WHERE line_id = ${lineId}::uuid AND ${condition}`;
  const where = { id: { in: found.map((key) => key.id) } };
  return findKeys(transaction, { where, orderBy: { id: 'asc' } });
}
