import { isValidAt, stateAt, wasLiveAt } from '../auth/key-validity.js';
import { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/access/in-transaction.js';
import { type KeyPosition, type KeyQuery, type KeySort, SORT_DEFAULT } from './key-query.schemas.js';
import { RECENT_HOURS, type KeyWithUsage } from './key.schemas.js';
import { findKeys } from './key.repository.js';
import type { KeyRecord } from './key.view.js';
import { searchPattern } from './rules/search-pattern.js';
import { DAY_MS, HOUR_MS } from '../process/time-units.js';

/** A sort order of keys: the value that they are sorted by, and the condition of those after a position. */
interface SortOrder {
  value: Prisma.Sql;
  by: Prisma.Sql;
  isAfter: (position: KeyPosition) => Prisma.Sql;
}

/**
 * The time of the last request of the key `k`: the latest of its last day, whose rows are the first of the
 * primary key, read backwards.
 */
const LAST_USED = Prisma.sql`(
  SELECT max(of_day.last_request_at) FROM (
    SELECT last_request_at FROM usage
    WHERE key_id = k.id AND period = 'day'
    ORDER BY starts_at DESC FETCH FIRST 1 ROW WITH TIES
  ) of_day
)`;
const LAST_USED_JOIN = Prisma.sql`CROSS JOIN LATERAL (SELECT ${LAST_USED} AS last_at) used`;

const NONE = Prisma.sql`NULL::text`;
const EXPIRY = Prisma.sql`coalesce(k.expires_at, 'infinity')`;
const LAST = Prisma.sql`coalesce(used.last_at, '-infinity')`;

const SORT_ORDERS: Record<Exclude<KeySort, 'state'>, SortOrder> = {
  createdAt: { value: NONE, by: Prisma.sql`k.id`, isAfter: ({ id }) => Prisma.sql`k.id > ${id}::uuid` },
  '-createdAt': {
    value: NONE,
    by: Prisma.sql`k.id DESC`,
    isAfter: ({ id }) => Prisma.sql`k.id < ${id}::uuid`,
  },
  name: {
    value: Prisma.sql`k.name`,
    by: Prisma.sql`k.name, k.id`,
    isAfter: ({ id, value }) => Prisma.sql`(k.name, k.id) > (${value ?? ''}, ${id}::uuid)`,
  },
  '-lastUsedAt': {
    value: Prisma.sql`used.last_at`,
    by: Prisma.sql`${LAST} DESC, k.id DESC`,
    isAfter: ({ id, value }) =>
      Prisma.sql`(${LAST}, k.id) < (${value ?? '-infinity'}::timestamptz, ${id}::uuid)`,
  },
  expiresAt: {
    value: Prisma.sql`k.expires_at`,
    by: Prisma.sql`${EXPIRY}, k.id`,
    isAfter: ({ id, value }) =>
      Prisma.sql`(${EXPIRY}, k.id) > (${value ?? 'infinity'}::timestamptz, ${id}::uuid)`,
  },
};

/**
 * Returns the order that has live keys first, each newest first. All pages sort by which were live when the
 * first page was read, so that a key which is revoked meanwhile is on one page only.
 */
function liveFirst(cursor: KeyPosition | undefined, nowMs: number): SortOrder {
  const [, began = new Date(nowMs).toISOString()] = cursor?.value?.split('@') ?? [];
  const wasLive = wasLiveAt(began);
  return {
    value: Prisma.sql`${wasLive}::text || '@' || ${began}::text`,
    by: Prisma.sql`${wasLive} DESC, k.id DESC`,
    isAfter: ({ id, value }) =>
      Prisma.sql`(${wasLive}, k.id) < (${value?.startsWith('true') ?? true}::boolean, ${id}::uuid)`,
  };
}

/** Returns the keys of a page at `nowMs`, and the position of the last one, or null on the last page. */
export async function findKeyPage(
  database: Database,
  query: KeyQuery,
  bannedQuotas: string[],
  nowMs: number,
): Promise<{ records: KeyRecord[]; last: KeyPosition | null }> {
  const { limit, sort = SORT_DEFAULT, cursor } = query;
  const { value, by, isAfter } = sort === 'state' ? liveFirst(cursor, nowMs) : SORT_ORDERS[sort];
  const rows = await database.$queryRaw<{ id: string; value: string | Date | null }[]>`
    SELECT k.id, ${value} AS value
    FROM api_keys k JOIN quotas q ON q.id = k.quota_id
    ${sort === '-lastUsedAt' ? LAST_USED_JOIN : Prisma.empty}
    WHERE ${cursor === undefined ? Prisma.sql`true` : isAfter(cursor)} ${filters(query, bannedQuotas, nowMs)}
    ORDER BY ${by}
    LIMIT ${limit + 1}`;
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const records = await findKeys(database, { where: { id: { in: ids } } });
  const byId = new Map(records.map((record) => [record.id, record]));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    // A key that was deleted by hand meanwhile is left out.
    records: ids.flatMap((id) => byId.get(id) ?? []),
    last: last === undefined ? null : { sort, id: last.id, value: toText(last.value) },
  };
}

export async function countKeys(
  database: Database,
  query: KeyQuery,
  bannedQuotas: string[],
  nowMs: number,
): Promise<number> {
  const [row] = await database.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int
    FROM api_keys k JOIN quotas q ON q.id = k.quota_id
    WHERE true ${filters(query, bannedQuotas, nowMs)}`;
  return row!.count;
}

/** Returns the usage of each of these keys, by id. Usage that is still in the journal is not included. */
export async function usageOfKeys(
  database: Database,
  keys: readonly { id: string }[],
  nowMs: number,
): Promise<Map<string, Pick<KeyWithUsage, 'lastUsedAt' | 'recentUsage'>>> {
  const oldestMs = (Math.floor(nowMs / HOUR_MS) - RECENT_HOURS + 1) * HOUR_MS;
  const rows = await database.$queryRaw<UsageRow[]>`
    SELECT k.id, ${LAST_USED} AS "lastUsedAt", hours.requests, hours.denied
    FROM unnest(${keys.map(({ id }) => id)}::uuid[]) AS k (id)
    CROSS JOIN LATERAL (
      SELECT
        array_agg(of_hour.requests ORDER BY of_hour.number) AS requests,
        array_agg(of_hour.denied ORDER BY of_hour.number) AS denied
      FROM (
        SELECT
          hour.number,
          coalesce(sum(u.succeeded + u.redirected + u.client_errors + u.server_errors), 0)::float8
            AS requests,
          coalesce(sum(u.denied), 0)::float8 AS denied
        FROM generate_series(0, ${RECENT_HOURS - 1}::int) AS hour (number)
        LEFT JOIN usage u ON
          u.key_id = k.id AND u.period = 'hour'
          AND u.starts_at = ${new Date(oldestMs)}::timestamptz + make_interval(hours => hour.number)
        GROUP BY hour.number
      ) of_hour
    ) hours`;
  return new Map(
    rows.map(({ id, lastUsedAt, requests, denied }) => {
      const recentUsage = requests.map((inHour, hour) => ({
        startsAt: new Date(oldestMs + hour * HOUR_MS).toISOString(),
        requests: inHour,
        denied: denied[hour]!,
      }));
      return [id, { lastUsedAt: lastUsedAt?.toISOString() ?? null, recentUsage }];
    }),
  );
}

interface UsageRow {
  id: string;
  lastUsedAt: Date | null;
  requests: number[];
  denied: number[];
}

function toText(value: string | Date | null): string | null {
  return value instanceof Date ? value.toISOString() : value;
}

/** Returns the conditions of a page on the key `k` and its quota `q`, each after AND. */
function filters(
  { plan, quotaId, externalId, banned, state, search, expiresBefore, unusedSince }: KeyQuery,
  bannedQuotas: string[],
  nowMs: number,
): Prisma.Sql {
  const conditions: (Prisma.Sql | false)[] = [
    plan !== undefined && Prisma.sql`q.plan = ${plan}`,
    quotaId !== undefined && Prisma.sql`k.quota_id = ${quotaId}::uuid`,
    externalId !== undefined && Prisma.sql`q.external_id = ${externalId}`,
    // It is one array, because there may be more banned quotas than a statement may have parameters.
    banned !== undefined && Prisma.sql`(k.quota_id = ANY (${bannedQuotas}::uuid[])) = ${banned}`,
    state !== undefined && Prisma.sql`${stateAt(nowMs)} = ${state}`,
    search !== undefined && matches(search),
    expiresBefore !== undefined && Prisma.sql`${isValidAt(nowMs)} AND k.expires_at < ${expiresBefore}`,
    unusedSince !== undefined && Prisma.sql`${isValidAt(nowMs)} AND ${isUnusedSince(unusedSince)}`,
  ];
  const given = conditions.filter((condition) => condition !== false);
  return given.length === 0 ? Prisma.empty : Prisma.sql`AND ${Prisma.join(given, ' AND ')}`;
}

function isUnusedSince(since: Date): Prisma.Sql {
  const day = new Date(Math.floor(since.getTime() / DAY_MS) * DAY_MS);
  return Prisma.sql`k.created_at < ${since} AND NOT EXISTS (
    SELECT FROM usage since
    WHERE since.key_id = k.id AND since.period = 'day'
      AND since.starts_at >= ${day} AND since.last_request_at >= ${since}
  )`;
}

function matches(search: string): Prisma.Sql {
  const pattern = searchPattern(search);
  // The locale C knows the case of ASCII, and other letters are in neither an id nor a key.
  const ending = search.normalize('NFKC').toLowerCase();
  const endsWith = (text: Prisma.Sql) =>
    Prisma.sql`lower(right(${text}, ${ending.length}::int) COLLATE "C") = ${ending}`;
  return Prisma.sql`(
    ${contains(Prisma.sql`k.name`, pattern)}
    OR ${contains(Prisma.sql`k.note`, pattern)}
    OR ${contains(Prisma.sql`q.external_id`, pattern)}
    OR ${endsWith(Prisma.sql`k.id::text`)}
    OR ${endsWith(Prisma.sql`k.last_four`)}
  )`;
}

/**
 * Returns the condition that `searchPattern` finds in a text, null for no text. Most texts are in its normal
 * form already.
 */
function contains(text: Prisma.Sql, pattern: string): Prisma.Sql {
  const normal = Prisma.sql`CASE
    WHEN ${text} IS NFKC NORMALIZED THEN ${text} ELSE normalize(${text}, NFKC)
  END`;
  return Prisma.sql`CASE
    WHEN octet_length(${text}) = char_length(${text}) THEN ${text} ~ ${pattern}
    ELSE replace(replace(${normal}, 'ß', 'ss'), 'ẞ', 'ss') ~ ${pattern}
  END`;
}
