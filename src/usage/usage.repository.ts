import { Injectable } from '@nestjs/common';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { requireRange } from '../http/routes/require-range.js';
import { toPage } from '../schemas/pagination.js';
import type { MinuteOfRequests } from './rules/what-if.js';
import { UsageJournal } from './usage.journal.js';
import type {
  DeprecatedCallersQuery,
  KeyUsageOfAllQuery,
  OperationUsageQuery,
  TopUsageQuery,
  UsageTotalsQuery,
} from './admin-usage.schemas.js';
import type {
  DeprecatedCaller,
  KeyUsage,
  OperationUsage,
  TopUsage,
  Usage,
  UsageSplit,
} from './usage.schemas.js';

/**
 * Returns the counts of a row, or by `sum` those of a group, as responses show them. Numbers are exact up to
 * 2^53.
 */
const counts = (aggregate: '' | 'sum') =>
  Prisma.raw(`
    ${aggregate}(succeeded + redirected + client_errors + server_errors)::float8 AS requests,
    ${aggregate}(denied)::float8 AS denied,
    json_build_object(
      '2xx', ${aggregate}(succeeded), '3xx', ${aggregate}(redirected),
      '4xx', ${aggregate}(client_errors), '5xx', ${aggregate}(server_errors)
    ) AS statuses`);
const SUMS = counts('sum');
const TOTAL = Prisma.sql`sum(succeeded + redirected + client_errors + server_errors)::float8`;
const REQUESTS = Prisma.sql`${TOTAL} AS requests`;
const KEY_FIELDS = Prisma.sql`k.name AS "keyName", k.prefix, k.last_four AS "lastFour"`;
const COLUMNS = ['succeeded', 'redirected', 'client_errors', 'server_errors', 'denied'];
/** The counts of one key by period, as columns of `usage`. */
const SUMS_BY_START = Prisma.raw(
  ['starts_at', ...COLUMNS.map((column) => `sum(${column}) AS ${column}`)].join(', '),
);

/**
 * What splits the totals of a period: columns, their fields, and the condition for what follows a position
 * within a period.
 */
const SPLITS = {
  none: { columns: Prisma.empty, fields: Prisma.empty, isAfter: () => Prisma.sql`false` },
  operation: {
    columns: Prisma.sql`, operation, deprecated`,
    fields: Prisma.sql`operation, deprecated,`,
    isAfter: ({ operation, deprecated }: TotalsPosition) =>
      Prisma.sql`(operation, deprecated) > (${operation}, ${deprecated})`,
  },
  key: {
    columns: Prisma.sql`, key_id`,
    fields: Prisma.sql`key_id AS "keyId", min(name) AS "keyName", min(last_four) AS "lastFour",`,
    isAfter: ({ keyId }: TotalsPosition) => Prisma.sql`key_id > ${keyId}::uuid`,
  },
};

/** What the entries of the top add up: the column of its id, and the id of the key. */
const TOP = {
  key: { id: Prisma.sql`key_id`, keyId: Prisma.sql`key_id` },
  quota: { id: Prisma.sql`quota_id`, keyId: Prisma.sql`NULL::uuid` },
};

/**
 * Selects usage of one period that started in a range, of all keys, of one, or of those of a quota or an
 * external id.
 */
export type UsageSelection = Omit<UsageTotalsQuery, 'limit' | 'cursor'> & {
  /** The UUID of a key, which also selects those that it succeeds, and those that succeed it. */
  rotationOf?: string;
};

/** The start of a period, and the position within it by what splits the period. */
type TotalsPosition = { startsAt: Date } & Partial<Pick<KeyUsage, 'keyId' | 'operation' | 'deprecated'>>;

/** More than the service has operations. */
export const OPERATIONS_MAX = 1000;

/**
 * Reads the usage of minutes, hours and days, as responses show it. A read includes everything that was
 * journaled before it. It throws ApiError `invalid_request` if `since` is not before `until`, else the
 * database's error.
 */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: UsageJournal,
  ) {}

  /** Returns one page of the usage of each key and operation, newest first, then by key and operation. */
  async page({ limit, cursor, ...selection }: KeyUsageOfAllQuery & Pick<UsageSelection, 'keyId'>) {
    const isAfter =
      cursor &&
      Prisma.sql`AND starts_at <= ${cursor.startsAt}::timestamptz AND (
        starts_at < ${cursor.startsAt}::timestamptz OR (key_id, operation, deprecated)
          > (${cursor.keyId}::uuid, ${cursor.operation}, ${cursor.deprecated})
      )`;
    const rows = await this.read<KeyUsage>(Prisma.sql`
      SELECT page.*, q.external_id AS "externalId"
      FROM (
        SELECT
          starts_at AS "startsAt", key_id AS "keyId", quota_id AS "quotaId", operation, deprecated,
          ${counts('')},
          last_request_at AS "lastRequestAt"
        ${selectedUsage(selection, isAfter)}
        ORDER BY starts_at DESC, key_id, operation, deprecated
        LIMIT ${limit + 1}
      ) page LEFT JOIN quotas q ON q.id = "quotaId"
      ORDER BY "startsAt" DESC, "keyId", operation, deprecated`);
    return toPage(rows, limit);
  }

  /**
   * Returns one page of the totals of each period that had requests, newest first, and with `by` of each
   * operation or key in it, in their order.
   *
   * @param by what splits a period; `key` only if a quota is selected.
   */
  async totals(
    { limit, cursor, ...selection }: UsageSelection & { limit: number; cursor?: TotalsPosition | undefined },
    by: UsageSplit | 'none' = 'none',
  ) {
    const split = SPLITS[by];
    const isAfter =
      cursor &&
      Prisma.sql`AND starts_at <= ${cursor.startsAt}
        AND (starts_at < ${cursor.startsAt} OR ${split.isAfter(cursor)})`;
    const order = split.columns;
    // The newest entries of each key of a quota are enough; without a limit, a page would read all minutes.
    const newest = Prisma.sql`
      GROUP BY starts_at${order} ORDER BY starts_at DESC${order} LIMIT ${limit + 1}`;
    const rows = await this.read<Usage>(Prisma.sql`
      SELECT starts_at AS "startsAt", ${split.fields} ${SUMS}
      ${selectedUsage(selection, isAfter, Prisma.sql`${SUMS_BY_START}${order}`, newest)}
      ${newest}`);
    return toPage(rows, limit);
  }

  /**
   * Returns one page of the keys or the quotas with the most requests, most first, then by id. An entry that
   * gets more requests between two pages may move to one that was read.
   */
  async top({ limit, cursor, by = 'key', ...selection }: TopUsageQuery) {
    const { id, keyId } = TOP[by];
    const isAfter =
      cursor && Prisma.sql`HAVING (-${TOTAL}, ${id}) > (-${cursor.requests}::float8, ${cursor.id}::uuid)`;
    const rows = await this.read<TopUsage>(Prisma.sql`
      SELECT top.*, ${KEY_FIELDS}, q.plan, q.external_id AS "externalId"
      FROM (
        SELECT
          ${keyId} AS "keyId", min(quota_id::text)::uuid AS "quotaId", ${SUMS},
          max(last_request_at) AS "lastRequestAt"
        ${selectedUsage(selection)}
        GROUP BY ${id}
        ${isAfter ?? Prisma.empty}
        ORDER BY requests DESC, ${id}
        LIMIT ${limit + 1}
      ) top LEFT JOIN api_keys k ON k.id = "keyId" LEFT JOIN quotas q ON q.id = "quotaId"
      ORDER BY requests DESC, coalesce("keyId", "quotaId")`);
    return toPage(rows, limit);
  }

  /** Returns one page of the operations with the most requests, most first, in the manner of `top`. */
  async byOperation({ limit, cursor, ...selection }: OperationUsageQuery & UsageSelection) {
    const isAfter =
      cursor &&
      Prisma.sql`HAVING (-${TOTAL}, operation, deprecated)
        > (-${cursor.requests}::float8, ${cursor.operation}, ${cursor.deprecated})`;
    const rows = await this.read<OperationUsage>(Prisma.sql`
      SELECT operation, deprecated, ${SUMS}, max(last_request_at) AS "lastRequestAt"
      ${selectedUsage(selection)}
      GROUP BY operation, deprecated
      ${isAfter ?? Prisma.empty}
      ORDER BY requests DESC, operation, deprecated
      LIMIT ${limit + 1}`);
    return toPage(rows, limit);
  }

  /**
   * Returns the requests that count against a quota's windows, of all its keys, in each minute that had any,
   * oldest first.
   */
  minutesOfQuota(quotaId: string, uncounted: string[], since: Date, until?: Date) {
    const isCounted = Prisma.sql`AND operation <> ALL (${uncounted})`;
    return this.read<MinuteOfRequests>(Prisma.sql`
      SELECT starts_at AS "startsAt", ${REQUESTS}
      ${selectedUsage({ period: 'minute', since, until, quotaId }, isCounted)}
      GROUP BY starts_at
      ORDER BY starts_at`);
  }

  async deprecatedCalls(
    quotaId: string,
    operations: string[],
    { limit, cursor }: { limit: number; cursor?: { operation: string } | undefined },
  ) {
    const isAfter = cursor ? Prisma.sql`AND operation > ${cursor.operation}` : Prisma.empty;
    const isSelected = Prisma.sql`AND deprecated AND operation = ANY (${operations}::text[]) ${isAfter}`;
    const rows = await this.read<
      Pick<DeprecatedCaller, 'operation' | 'requests' | 'lastCalledAt'>
    >(Prisma.sql`
      SELECT operation, ${REQUESTS}, max(last_request_at) AS "lastCalledAt"
      ${selectedUsage({ period: 'day', quotaId }, isSelected)}
      GROUP BY operation
      ORDER BY operation
      LIMIT ${limit + 1}`);
    return toPage(rows, limit);
  }

  /**
   * Returns one page of the keys that called deprecated operations, by operation and key: no further call
   * changes this order.
   */
  async deprecatedCallers({ limit, cursor }: DeprecatedCallersQuery) {
    const isAfter =
      cursor && Prisma.sql`AND (operation, key_id) > (${cursor.operation}, ${cursor.keyId}::uuid)`;
    const rows = await this.read<DeprecatedCaller>(Prisma.sql`
      SELECT
        operation, key_id AS "keyId", ${KEY_FIELDS}, min(usage.quota_id::text) AS "quotaId",
        min(q.external_id) AS "externalId", ${REQUESTS}, max(last_request_at) AS "lastCalledAt"
      FROM usage LEFT JOIN api_keys k ON k.id = key_id LEFT JOIN quotas q ON q.id = usage.quota_id
      WHERE period = 'day' AND deprecated ${isAfter ?? Prisma.empty}
      GROUP BY operation, key_id, k.id
      ORDER BY operation, key_id
      LIMIT ${limit + 1}`);
    return toPage(rows, limit);
  }

  /** Returns the rows of a query, with instants as text. */
  private async read<Row extends object>(statement: Prisma.Sql): Promise<Row[]> {
    await this.journal.aggregate();
    return JSON.parse(JSON.stringify(await this.prisma.$queryRaw(statement))) as Row[];
  }
}

/**
 * Returns the selected rows that meet a further condition, which begins with `AND`. They are a range of an
 * index: the primary key begins with the key, and no index with the quota.
 *
 * @param columns what to select from each key of a quota. `end` follows its condition: OFFSET makes
 *   PostgreSQL read key by key, because before version 18 it would follow the index by time, past the usage
 *   of all other keys.
 */
function selectedUsage(
  selection: UsageSelection,
  further = Prisma.empty,
  columns = Prisma.sql`*`,
  end = Prisma.sql`OFFSET 0`,
): Prisma.Sql {
  const { period, since, until, keyId } = selection;
  requireRange(selection);
  const condition = Prisma.sql`period = ${period}
    ${since === undefined ? Prisma.empty : Prisma.sql`AND starts_at >= ${since}`}
    ${until === undefined ? Prisma.empty : Prisma.sql`AND starts_at < ${until}`}
    ${keyId === undefined ? Prisma.empty : Prisma.sql`AND key_id = ${keyId}::uuid`}
    ${further}`;
  const own = keysOf(selection);
  return own === undefined
    ? Prisma.sql`FROM usage WHERE ${condition}`
    : Prisma.sql`FROM
        (${own}) AS own,
        LATERAL (SELECT ${columns} FROM usage WHERE key_id = own_id AND ${condition} ${end}) AS usage`;
}

/** Returns the query of the keys of a quota, of an external id, or of a line; undefined for all keys. */
function keysOf({ quotaId, externalId, rotationOf }: UsageSelection): Prisma.Sql | undefined {
  if (rotationOf !== undefined) {
    return Prisma.sql`SELECT id AS own_id FROM api_keys
      WHERE line_id = (SELECT line_id FROM api_keys WHERE id = ${rotationOf}::uuid)`;
  }
  const conditions = [
    quotaId !== undefined && Prisma.sql`quota_id = ${quotaId}::uuid`,
    externalId !== undefined &&
      Prisma.sql`quota_id IN (SELECT id FROM quotas WHERE external_id = ${externalId})`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0
    ? undefined
    : Prisma.sql`SELECT id AS own_id, name, last_four FROM api_keys
        WHERE ${Prisma.join(conditions, ' AND ')}`;
}
