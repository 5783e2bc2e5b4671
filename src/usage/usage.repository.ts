import { Injectable } from '@nestjs/common';
import { Prisma, type Usage as Row } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import type { Period } from './rules/periods.js';
import { type Count, COUNTS } from './rules/usage-counts.js';
import { UsageJournal } from './usage.journal.js';

/** The requests of one key for one operation in one UTC minute, hour or day; `requests` are all, whatever their status. */
export type Usage = Omit<Row, 'period' | Count> & Record<Count | 'requests', number>;

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

/** Reads the usage of minutes, hours and days. A read includes everything that was journaled before it. */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: UsageJournal,
  ) {}

  /**
   * Returns one page, newest first, then by key and operation, and whether more follow. The next page starts after its last row.
   *
   * @throws the database's error.
   */
  async page(page: PageOfUsage): Promise<{ usage: Usage[]; more: boolean }> {
    const { period, since, keyId, limit, after } = page;
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
    const isAfter = after
      ? Prisma.sql`(usage.operation, usage.key_id) > (${after.operation}, ${after.keyId}::uuid)`
      : Prisma.sql`true`;
    const calls = await this.prisma.$queryRaw<DeprecatedCalls[]>`
      SELECT
        usage.operation,
        usage.key_id AS "keyId",
        api_keys.name AS "keyName",
        min(usage.quota_id::text) AS "quotaId",
        sum(usage.succeeded + usage.redirected + usage.client_errors + usage.server_errors)::float8 AS requests,
        max(usage.last_at) AS "lastAt"
      FROM usage LEFT JOIN api_keys ON api_keys.id = usage.key_id
      WHERE usage.period = 'day' AND usage.deprecated AND ${isAfter}
      GROUP BY usage.operation, usage.key_id, api_keys.name
      ORDER BY usage.operation, usage.key_id
      LIMIT ${limit + 1}`;
    return { calls: calls.slice(0, limit), more: calls.length > limit };
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

function usageOf(row: Omit<Row, 'period'>): Usage {
  const counts = Object.fromEntries(COUNTS.map((count) => [count, Number(row[count])])) as Record<
    Count,
    number
  >;
  const { succeeded, redirected, clientErrors, serverErrors } = counts;
  return { ...row, ...counts, requests: succeeded + redirected + clientErrors + serverErrors };
}
