import { Injectable } from '@nestjs/common';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../errors/api-error.js';
import type { Period } from './rules/periods.js';
import type { Count } from './rules/usage-counts.js';
import { UsageJournal } from './usage.journal.js';
import type { CountFields } from './usage.schemas.js';

/** The most operations that a report has. */
export const OPERATIONS_MAX = 100;

const REQUESTS = Prisma.sql`sum(succeeded + redirected + client_errors + server_errors)`;
/** The sums of a group. They are exact up to 2^53. */
const SUMS = Prisma.sql`
  sum(succeeded)::float8 AS succeeded,
  sum(redirected)::float8 AS redirected,
  sum(client_errors)::float8 AS "clientErrors",
  sum(server_errors)::float8 AS "serverErrors",
  sum(refusals)::float8 AS refusals`;

type Counts = Record<Count, number>;

/** Selects usage of one period that started in a range, of all keys or of one. */
export interface UsageSelection {
  period: Period;
  /** Only periods that started then or later. */
  since?: Date | undefined;
  /** Only periods that started before. */
  until?: Date | undefined;
  /** The UUID of a key. */
  keyId?: string | undefined;
}

/** Selects a page of totals: `limit` periods, newest first, before the one that starts at `before`. */
interface PageOfTotals extends UsageSelection {
  limit: number;
  before?: Date | undefined;
  /** The UUID of a quota: only usage of its keys. */
  quotaId?: string | undefined;
}

/** The position of a row in the sort order of a page. A row is its own position. */
export interface UsagePosition {
  startsAt: string;
  keyId: string;
  operation: string;
  deprecated: boolean;
}

/** Selects a page of usage: `limit` rows, after the row at `after`. */
interface PageOfUsage extends UsageSelection {
  limit: number;
  after?: UsagePosition | undefined;
}

/** The position of a caller of a deprecated operation in the sort order of a page. */
export interface DeprecatedCallsPosition {
  operation: string;
  keyId: string;
}

/** Reads the usage of minutes, hours and days, as responses show it. A read includes everything that was journaled before it. */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: UsageJournal,
  ) {}

  /**
   * Returns one page of the usage of each key and operation, newest first, then by key and operation, and whether more follows.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async page({ limit, after, ...selection }: PageOfUsage) {
    const isAfter =
      after &&
      Prisma.sql`AND starts_at <= ${after.startsAt}::timestamptz AND (
        starts_at < ${after.startsAt}::timestamptz
        OR (key_id, operation, deprecated) > (${after.keyId}::uuid, ${after.operation}, ${after.deprecated})
      )`;
    const rows = await this.read<
      Counts & { startsAt: Date; keyId: string; quotaId: string } & LastCall & Operation
    >(Prisma.sql`
      SELECT
        starts_at AS "startsAt", key_id AS "keyId", quota_id AS "quotaId", operation, deprecated,
        succeeded::float8, redirected::float8, client_errors::float8 AS "clientErrors",
        server_errors::float8 AS "serverErrors", refusals::float8, last_at AS "lastAt"
      FROM usage
      WHERE ${isSelected(selection)} ${isAfter ?? Prisma.empty}
      ORDER BY starts_at DESC, key_id, operation, deprecated
      LIMIT ${limit + 1}`);
    return { usage: rows.slice(0, limit).map(shown), more: rows.length > limit };
  }

  /**
   * Returns one page of the totals of each period that had requests, newest first, and whether more follow.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async totals({ limit, before, quotaId, ...selection }: PageOfTotals) {
    const rows = await this.read<Counts & { startsAt: Date }>(Prisma.sql`
      SELECT starts_at AS "startsAt", ${SUMS}
      FROM ${quotaId === undefined ? Prisma.sql`usage` : usageOfQuota(quotaId, selection.period)}
      WHERE ${isSelected(selection)} ${before === undefined ? Prisma.empty : Prisma.sql`AND starts_at < ${before}`}
      GROUP BY starts_at
      ORDER BY starts_at DESC
      LIMIT ${limit + 1}`);
    return { totals: rows.slice(0, limit).map(shown), more: rows.length > limit };
  }

  /**
   * Returns the keys with the most requests, most first. The name of a key that was deleted by hand is null.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async topKeys(selection: UsageSelection, limit: number) {
    const rows = await this.read<
      Counts & { keyId: string; keyName: string | null; quotaId: string } & LastCall
    >(Prisma.sql`
      SELECT top.*, api_keys.name AS "keyName"
      FROM (
        SELECT key_id AS "keyId", min(quota_id::text) AS "quotaId", ${SUMS}, max(last_at) AS "lastAt"
        FROM usage
        WHERE ${isSelected(selection)}
        GROUP BY key_id
        ORDER BY ${REQUESTS} DESC, key_id
        LIMIT ${limit}
      ) AS top
      LEFT JOIN api_keys ON api_keys.id = "keyId"
      ORDER BY succeeded + redirected + "clientErrors" + "serverErrors" DESC, "keyId"`);
    return rows.map(shown);
  }

  /**
   * Returns the operations with the most requests, most first, `OPERATIONS_MAX` at most.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async byOperation(selection: UsageSelection) {
    const rows = await this.read<Counts & LastCall & Operation>(Prisma.sql`
      SELECT operation, deprecated, ${SUMS}, max(last_at) AS "lastAt"
      FROM usage
      WHERE ${isSelected(selection)}
      GROUP BY operation, deprecated
      ORDER BY ${REQUESTS} DESC, operation, deprecated
      LIMIT ${OPERATIONS_MAX}`);
    return rows.map(shown);
  }

  /**
   * Returns one page of the keys that called deprecated operations, in all days that are kept, and whether more follow. The sort order
   * is by operation, then by key, which no further call changes.
   *
   * @throws the database's error.
   */
  async deprecatedCalls(limit: number, after?: DeprecatedCallsPosition) {
    const isAfter = after && Prisma.sql`AND (operation, key_id) > (${after.operation}, ${after.keyId}::uuid)`;
    const rows = await this.read<
      DeprecatedCallsPosition & { keyName: string | null; quotaId: string; requests: number } & LastCall
    >(Prisma.sql`
      SELECT
        operation, key_id AS "keyId", api_keys.name AS "keyName", min(usage.quota_id::text) AS "quotaId",
        ${REQUESTS}::float8 AS requests, max(last_at) AS "lastAt"
      FROM usage LEFT JOIN api_keys ON api_keys.id = key_id
      WHERE period = 'day' AND deprecated ${isAfter ?? Prisma.empty}
      GROUP BY operation, key_id, api_keys.name
      ORDER BY operation, key_id
      LIMIT ${limit + 1}`);
    return { calls: rows.slice(0, limit).map(datesAsText), more: rows.length > limit };
  }

  /**
   * Returns the calls of a quota's keys to these operations while they were deprecated, in all days that are kept, by operation.
   *
   * @throws the database's error.
   */
  async deprecatedCallsForQuota(quotaId: string, operations: string[]) {
    const rows = await this.read<{ operation: string; requests: number } & LastCall>(Prisma.sql`
      SELECT operation, ${REQUESTS}::float8 AS requests, max(last_at) AS "lastAt"
      FROM usage
      WHERE period = 'day' AND deprecated AND operation = ANY (${operations})
        AND key_id = ANY (ARRAY(SELECT id FROM api_keys WHERE quota_id = ${quotaId}::uuid))
      GROUP BY operation
      ORDER BY operation`);
    return rows.map(datesAsText);
  }

  private async read<Row>(statement: Prisma.Sql): Promise<Row[]> {
    await this.journal.aggregate();
    return this.prisma.$queryRaw<Row[]>(statement);
  }
}

interface Operation {
  operation: string;
  deprecated: boolean;
}

interface LastCall {
  lastAt: Date;
}

/**
 * Returns the condition of the selected rows, which is a range of the primary key or of the index by time.
 *
 * @throws ApiError `invalid_request` if `since` is not before `until`.
 */
function isSelected({ period, since, until, keyId }: UsageSelection): Prisma.Sql {
  if (since !== undefined && until !== undefined && since >= until) {
    throw new ApiError('invalid_request', 'The request is invalid: since must be before until.');
  }
  return Prisma.sql`period = ${period}::usage_period
    ${since === undefined ? Prisma.empty : Prisma.sql`AND starts_at >= ${since}`}
    ${until === undefined ? Prisma.empty : Prisma.sql`AND starts_at < ${until}`}
    ${keyId === undefined ? Prisma.empty : Prisma.sql`AND key_id = ${keyId}::uuid`}`;
}

/**
 * Returns the usage of a quota's keys as a table. The primary key begins with the key, and no index with the quota. OFFSET makes
 * PostgreSQL read it key by key: before version 18 it would follow the index by time, past the usage of all other keys.
 */
function usageOfQuota(quotaId: string, period: Period): Prisma.Sql {
  return Prisma.sql`
    (SELECT id FROM api_keys WHERE quota_id = ${quotaId}::uuid) AS own,
    LATERAL (SELECT * FROM usage WHERE key_id = own.id AND period = ${period}::usage_period OFFSET 0) AS usage`;
}

type DatesAsText<Row> = { [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] };

function datesAsText<Row extends object>(row: Row): DatesAsText<Row> {
  const fields = Object.entries(row).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ]);
  return Object.fromEntries(fields) as DatesAsText<Row>;
}

/** Returns a row as responses show it. */
function shown<Row extends Counts>(row: Row): Omit<DatesAsText<Row>, Count> & CountFields {
  const { succeeded, redirected, clientErrors, serverErrors, refusals, ...fields } = row;
  return {
    ...datesAsText(fields),
    requests: succeeded + redirected + clientErrors + serverErrors,
    refusals,
    statuses: { '2xx': succeeded, '3xx': redirected, '4xx': clientErrors, '5xx': serverErrors },
  };
}
