import { Injectable } from '@nestjs/common';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../errors/api-error.js';
import type { Period } from './rules/periods.js';
import type { Count } from './rules/usage-counts.js';
import { UsageJournal } from './usage.journal.js';
import { type CountFields, countFieldsOf, type UsageTotals } from './usage-totals.schemas.js';

/** The most operations that a report has. */
export const OPERATIONS_MAX = 100;

/** The sums of a group. They are exact up to 2^53. */
const COUNTS = Prisma.sql`
  sum(succeeded)::float8 AS succeeded,
  sum(redirected)::float8 AS redirected,
  sum(client_errors)::float8 AS "clientErrors",
  sum(server_errors)::float8 AS "serverErrors",
  sum(refusals)::float8 AS refusals`;
const REQUESTS = Prisma.sql`sum(succeeded + redirected + client_errors + server_errors)`;

type Counts = Record<Count, number>;

/** Selects usage of one period: what started in the range, of all keys, of one key, or of all keys of a quota. */
export interface UsageSelection {
  period: Period;
  /** Only periods that started then or later. */
  since?: Date | undefined;
  /** Only periods that started before. */
  until?: Date | undefined;
  /** The UUID of a key. */
  keyId?: string | undefined;
  /** The UUID of a quota. */
  quotaId?: string | undefined;
}

/** Selects a page of totals: `limit` periods, newest first, before the one that starts at `before`. */
export interface PageOfTotals extends UsageSelection {
  limit: number;
  before?: Date | undefined;
}

/** The requests of one key in a range. */
export interface KeyUsage extends CountFields {
  keyId: string;
  /** Null if the key was deleted by hand. */
  keyName: string | null;
  quotaId: string;
  lastAt: string;
}

/** The requests for one operation in a range. */
export interface OperationUsage extends CountFields {
  operation: string;
  deprecated: boolean;
  lastAt: string;
}

/** The calls of a quota's keys to an operation that was deprecated at the time. */
export interface QuotaDeprecatedCalls {
  operation: string;
  requests: number;
  lastAt: Date;
}

/** Sums usage by period, key or operation. A read includes everything that was journaled before it. */
@Injectable()
export class UsageReportRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: UsageJournal,
  ) {}

  /**
   * Returns one page of the totals of each period that had requests, newest first, and whether more follow.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async totals({
    limit,
    before,
    ...selection
  }: PageOfTotals): Promise<{ totals: UsageTotals[]; more: boolean }> {
    const isBefore = before === undefined ? Prisma.empty : Prisma.sql`AND starts_at < ${before}`;
    const rows = await this.read<Counts & { startsAt: Date }>(
      selection,
      (selected) => Prisma.sql`
        SELECT starts_at AS "startsAt", ${COUNTS}
        FROM ${selection.quotaId === undefined ? Prisma.sql`usage` : usageOf(selection.quotaId, selection.period)}
        WHERE ${selected} ${isBefore}
        GROUP BY starts_at
        ORDER BY starts_at DESC
        LIMIT ${limit + 1}`,
    );
    const totals = rows
      .slice(0, limit)
      .map((row) => ({ startsAt: row.startsAt.toISOString(), ...countFieldsOf(row) }));
    return { totals, more: rows.length > limit };
  }

  /**
   * Returns the keys with the most requests, most first.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async topKeys(selection: UsageSelection, limit: number): Promise<KeyUsage[]> {
    // The usage of a deleted key still has its quota. The order makes PostgreSQL read one row of the primary key.
    const rows = await this.read<Counts & Pick<KeyUsage, 'keyId' | 'keyName' | 'quotaId'> & { lastAt: Date }>(
      selection,
      (selected) => Prisma.sql`
        SELECT
          top.*,
          api_keys.name AS "keyName",
          coalesce(
            api_keys.quota_id,
            (SELECT quota_id FROM usage WHERE key_id = "keyId" ORDER BY period, starts_at LIMIT 1)
          ) AS "quotaId"
        FROM (
          SELECT key_id AS "keyId", ${COUNTS}, max(last_at) AS "lastAt", ${REQUESTS} AS sum
          FROM usage
          WHERE ${selected}
          GROUP BY key_id
          ORDER BY sum DESC, key_id
          LIMIT ${limit}
        ) AS top
        LEFT JOIN api_keys ON api_keys.id = "keyId"
        ORDER BY sum DESC, "keyId"`,
    );
    return rows.map(({ keyId, keyName, quotaId, lastAt, ...counts }) => ({
      keyId,
      keyName,
      quotaId,
      ...countFieldsOf(counts),
      lastAt: lastAt.toISOString(),
    }));
  }

  /**
   * Returns the operations with the most requests, most first, `OPERATIONS_MAX` at most.
   *
   * @throws ApiError `invalid_request` if `since` is not before `until`; the database's error.
   */
  async byOperation(selection: UsageSelection): Promise<OperationUsage[]> {
    const rows = await this.read<
      Counts & Pick<OperationUsage, 'operation' | 'deprecated'> & { lastAt: Date }
    >(
      selection,
      (selected) => Prisma.sql`
        SELECT operation, deprecated, ${COUNTS}, max(last_at) AS "lastAt"
        FROM usage
        WHERE ${selected}
        GROUP BY operation, deprecated
        ORDER BY ${REQUESTS} DESC, operation, deprecated
        LIMIT ${OPERATIONS_MAX}`,
    );
    return rows.map(({ operation, deprecated, lastAt, ...counts }) => ({
      operation,
      deprecated,
      ...countFieldsOf(counts),
      lastAt: lastAt.toISOString(),
    }));
  }

  /**
   * Returns the calls of a quota's keys to these operations while they were deprecated, in all days that are kept, by operation.
   *
   * @throws the database's error.
   */
  async deprecatedCallsOf(quotaId: string, operations: string[]): Promise<QuotaDeprecatedCalls[]> {
    await this.journal.aggregate();
    return this.prisma.$queryRaw<QuotaDeprecatedCalls[]>`
      SELECT operation, ${REQUESTS}::float8 AS requests, max(last_at) AS "lastAt"
      FROM usage
      WHERE period = 'day' AND deprecated AND operation = ANY (${operations})
        AND key_id = ANY (ARRAY(SELECT id FROM api_keys WHERE quota_id = ${quotaId}::uuid))
      GROUP BY operation
      ORDER BY operation`;
  }

  private async read<Row>(
    selection: UsageSelection,
    statement: (selected: Prisma.Sql) => Prisma.Sql,
  ): Promise<Row[]> {
    const { since, until } = selection;
    if (since !== undefined && until !== undefined && since >= until) {
      throw new ApiError('invalid_request', 'The request is invalid: since must be before until.');
    }
    await this.journal.aggregate();
    return this.prisma.$queryRaw<Row[]>(statement(isSelected(selection)));
  }
}

/** Returns the condition of the selected rows, which is a range of the primary key or of the index by time. */
function isSelected({ period, since, until, keyId }: UsageSelection): Prisma.Sql {
  return Prisma.sql`period = ${period}::usage_period
    ${since === undefined ? Prisma.empty : Prisma.sql`AND starts_at >= ${since}`}
    ${until === undefined ? Prisma.empty : Prisma.sql`AND starts_at < ${until}`}
    ${keyId === undefined ? Prisma.empty : Prisma.sql`AND key_id = ${keyId}::uuid`}`;
}

/**
 * Returns the usage of a quota's keys as a table. The primary key begins with the key, and no index with the quota. OFFSET makes
 * PostgreSQL read it key by key: before version 18 it would follow the index by time, past the usage of all other keys.
 */
function usageOf(quotaId: string, period: Period): Prisma.Sql {
  return Prisma.sql`
    (SELECT id FROM api_keys WHERE quota_id = ${quotaId}::uuid) AS own,
    LATERAL (SELECT * FROM usage WHERE key_id = own.id AND period = ${period}::usage_period OFFSET 0) AS usage`;
}
