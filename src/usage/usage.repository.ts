import { Injectable } from '@nestjs/common';
import { Clock } from '../settings/clock.js';
import { Prisma, type Usage as Row } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { KEPT_HOURS, type Period, PERIODS } from './rules/periods.js';
import { UsageJournal } from './usage.journal.js';

const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-usage');
const DELETE_IDLE_RECORDERS = loadSql(import.meta.url, 'delete-idle-recorders');
/** The maximum rows that one statement deletes, so that recording never waits long for it. */
const DELETE_BATCH = 5_000;

/** The requests of one key for one operation in one UTC minute, hour or day. */
export interface Usage {
  startsAt: Date;
  keyId: string;
  quotaId: string;
  /** The `operationId`; `none` for requests that matched no operation. */
  operation: string;
  /** Whether the operation was deprecated then. */
  deprecated: boolean;
  /** All requests, whatever their status. */
  requests: number;
  succeeded: number;
  redirected: number;
  clientErrors: number;
  serverErrors: number;
  /** The client errors with status 429. */
  refusals: number;
  lastAt: Date;
}

/** The position of a row in the order of a page. A row is its own position. */
export type UsagePosition = Pick<Usage, 'startsAt' | 'keyId' | 'operation' | 'deprecated'>;

/** Selects a page of usage: `limit` rows of one period, newest first, after the row at `after`. */
export interface PageOfUsage {
  period: Period;
  /** Only periods that started then or later. */
  since: Date;
  /** Only usage of the key with this UUID. */
  keyId?: string | undefined;
  limit: number;
  after?: UsagePosition | undefined;
}

/** The calls of one key to an operation that was deprecated at the time. */
export interface DeprecatedCalls {
  operation: string;
  keyId: string;
  /** Null if the key was deleted by hand. */
  keyName: string | null;
  quotaId: string;
  requests: number;
  lastAt: Date;
}

/** The position of an entry in the order of a page. An entry is its own position. */
export type DeprecatedCallsPosition = Pick<DeprecatedCalls, 'operation' | 'keyId'>;

/** Reads and cleans up the usage of minutes, hours and days. A read includes everything that was journaled before it. */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly queries: QueryRunner,
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns one page, newest first, then by key and operation, and whether more follow. The next page starts after its last row.
   *
   * @throws the database's error.
   */
  async page({
    period,
    since,
    keyId,
    limit,
    after,
  }: PageOfUsage): Promise<{ usage: Usage[]; more: boolean }> {
    await this.journal.aggregate();
    const rows = await this.prisma.usage.findMany({
      where: {
        period,
        startsAt: { gte: since },
        ...(keyId !== undefined && { keyId }),
        ...(after && { AND: rowsAfter(after) }),
      },
      orderBy: [{ startsAt: 'desc' }, { keyId: 'asc' }, { operation: 'asc' }, { deprecated: 'asc' }],
      omit: { period: true },
      take: limit + 1,
    });
    return { usage: rows.slice(0, limit).map(usageOf), more: rows.length > limit };
  }

  /**
   * Returns one page of the keys that called deprecated operations, in all days that are kept, and whether more follow. The order is by
   * operation, then by key, which no further call changes. The next page starts after its last entry.
   *
   * @throws the database's error.
   */
  async deprecatedCalls(
    limit: number,
    after?: DeprecatedCallsPosition,
  ): Promise<{ calls: DeprecatedCalls[]; more: boolean }> {
    await this.journal.aggregate();
    const calls = await this.prisma.$queryRaw<DeprecatedCalls[]>`
      SELECT
        usage.operation,
        usage.key_id AS "keyId",
        api_keys.name AS "keyName",
        min(usage.quota_id::text) AS "quotaId",
        sum(usage.succeeded + usage.redirected + usage.client_errors + usage.server_errors)::float8 AS requests,
        max(usage.last_at) AS "lastAt"
      FROM usage LEFT JOIN api_keys ON api_keys.id = usage.key_id
      WHERE usage.period = 'day' AND usage.deprecated AND ${after === undefined ? Prisma.sql`true` : callsAfter(after)}
      GROUP BY usage.operation, usage.key_id, api_keys.name
      ORDER BY usage.operation, usage.key_id
      LIMIT ${limit + 1}`;
    return { calls: calls.slice(0, limit), more: calls.length > limit };
  }

  /**
   * Deletes expired usage, at most 5,000 rows of each period, and recorders that have been idle for a week.
   *
   * @returns whether there may be more to delete.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    const { storeOffsetMs } = this.clock;
    let more = false;
    for (const period of PERIODS) {
      const kept = KEPT_HOURS[period];
      const deleted = await this.queries.run(DELETE_EXPIRED, [period, kept, storeOffsetMs, DELETE_BATCH]);
      more ||= deleted.length === DELETE_BATCH;
    }
    await this.queries.run(DELETE_IDLE_RECORDERS, [storeOffsetMs]);
    return more;
  }
}

/** Returns the condition of the rows after a position in the order of a page. Its first part is the range of the index scan. */
function rowsAfter({ startsAt, keyId, operation, deprecated }: UsagePosition) {
  return [
    { startsAt: { lte: startsAt } },
    {
      OR: [
        { startsAt: { lt: startsAt } },
        { keyId: { gt: keyId } },
        { keyId, operation: { gt: operation } },
        ...(deprecated ? [] : [{ keyId, operation, deprecated: true }]),
      ],
    },
  ];
}

function usageOf({
  succeeded,
  redirected,
  clientErrors,
  serverErrors,
  refusals,
  ...row
}: Omit<Row, 'period'>): Usage {
  return {
    ...row,
    requests: Number(succeeded + redirected + clientErrors + serverErrors),
    succeeded: Number(succeeded),
    redirected: Number(redirected),
    clientErrors: Number(clientErrors),
    serverErrors: Number(serverErrors),
    refusals: Number(refusals),
  };
}

/** Returns the condition of the entries after a position in the order of a page. */
function callsAfter({ operation, keyId }: DeprecatedCallsPosition): Prisma.Sql {
  return Prisma.sql`(usage.operation, usage.key_id) > (${operation}, ${keyId}::uuid)`;
}
