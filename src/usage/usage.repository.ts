import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Prisma, type Usage as Row } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { KEPT_HOURS, type Period, PERIODS } from './periods.js';
import { UsageJournal } from './usage.journal.js';

const SWEEP = loadSql(import.meta.url, 'sweep-usage');
const SWEEP_RECORDERS = loadSql(import.meta.url, 'sweep-usage-recorders');
/** Rows that one statement removes at the most, so that recording never waits long behind it. */
const SWEEP_BATCH = 5_000;

/** What one key has asked of one operation in one UTC minute, hour or day. */
export interface Usage {
  startsAt: Date;
  keyId: string;
  quotaId: string;
  /** The operation's name in the OpenAPI document; `none` for requests that met no operation. */
  operation: string;
  /** Whether the operation was deprecated then. */
  deprecated: boolean;
  /** All of them, whatever they were answered. */
  requests: number;
  succeeded: number;
  redirected: number;
  clientErrors: number;
  serverErrors: number;
  /** Those of the client errors that were 429. */
  refusals: number;
  lastAt: Date;
}

/** The place of a row in the order of a page; a row itself is one. */
export type UsagePosition = Pick<Usage, 'startsAt' | 'keyId' | 'operation' | 'deprecated'>;

/** Which usage a page shows: `limit` rows of one period, after the one at `after`, newest first. */
export interface PageOfUsage {
  period: Period;
  /** Only what started then or later. */
  since: Date;
  /** Only that of this key, a UUID. */
  keyId?: string | undefined;
  limit: number;
  after?: UsagePosition | undefined;
}

/** A client that calls, or has called, an operation which was deprecated then. */
export interface DeprecatedCalls {
  operation: string;
  keyId: string;
  /** Null when the key was removed by hand. */
  keyName: string | null;
  quotaId: string;
  requests: number;
  lastAt: Date;
}

/** The place of a caller in the order of a page; a caller itself is one. */
export type DeprecatedCallsPosition = Pick<DeprecatedCalls, 'operation' | 'keyId'>;

/** Minutes, hours and days. Whoever reads them finds what was journaled before, too. */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly statements: QueryRunner,
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
  ) {}

  /**
   * One page, newest first, then by key and operation; and whether more follow. The next page is the one after its last row.
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
    await this.journal.fold();
    const rows = await this.prisma.usage.findMany({
      where: {
        period,
        startsAt: { gte: since },
        ...(keyId !== undefined && { keyId }),
        ...(after && { AND: behind(after) }),
      },
      orderBy: [{ startsAt: 'desc' }, { keyId: 'asc' }, { operation: 'asc' }, { deprecated: 'asc' }],
      omit: { period: true },
      take: limit + 1,
    });
    return { usage: rows.slice(0, limit).map(usageOf), more: rows.length > limit };
  }

  /**
   * One page of who has called deprecated operations in all the days that are kept, by operation, then by key: an order
   * that no further call changes. The next page is the one after its last entry.
   *
   * @throws the database's error.
   */
  async deprecatedCalls(
    limit: number,
    after?: DeprecatedCallsPosition,
  ): Promise<{ calls: DeprecatedCalls[]; more: boolean }> {
    await this.journal.fold();
    const calls = await this.prisma.$queryRaw<DeprecatedCalls[]>`
      SELECT
        usage.operation,
        usage.key_id AS "keyId",
        api_keys.name AS "keyName",
        min(usage.quota_id::text) AS "quotaId",
        sum(usage.succeeded + usage.redirected + usage.client_errors + usage.server_errors)::float8 AS requests,
        max(usage.last_at) AS "lastAt"
      FROM usage LEFT JOIN api_keys ON api_keys.id = usage.key_id
      WHERE usage.period = 'day' AND usage.deprecated AND ${after === undefined ? Prisma.sql`true` : follows(after)}
      GROUP BY usage.operation, usage.key_id, api_keys.name
      ORDER BY usage.operation, usage.key_id
      LIMIT ${limit + 1}`;
    return { calls: calls.slice(0, limit), more: calls.length > limit };
  }

  /**
   * Removes what is kept long enough: so many rows of each period, and no more, that it is done in a moment.
   *
   * @returns whether there may be more to remove.
   * @throws the database's error.
   */
  async sweep(): Promise<boolean> {
    const { storeOffsetMs } = this.clock;
    let more = false;
    for (const period of PERIODS) {
      const kept = KEPT_HOURS[period];
      const removed = await this.statements.run(SWEEP, [period, kept, storeOffsetMs, SWEEP_BATCH]);
      more ||= removed.length === SWEEP_BATCH;
    }
    await this.statements.run(SWEEP_RECORDERS, [storeOffsetMs]);
    return more;
  }
}

/** The condition of the rows that follow a position in the order of a page. The first part is what the index is read by. */
function behind({ startsAt, keyId, operation, deprecated }: UsagePosition) {
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

/** The condition of the callers that follow a position in the order of a page. */
function follows({ operation, keyId }: DeprecatedCallsPosition): Prisma.Sql {
  return Prisma.sql`(usage.operation, usage.key_id) > (${operation}, ${keyId}::uuid)`;
}
