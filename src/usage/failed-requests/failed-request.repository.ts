import { Injectable } from '@nestjs/common';
import { Prisma } from '../../database/generated/client.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { ApiError } from '../../http/routes/api-error.js';
import { toPage } from '../../schemas/pagination.js';
import { isPlainText } from '../../schemas/text-schemas.js';
import { STORED_PER_MINUTE_MAX } from '../rules/failed-request-batch.js';
import type { FailedRequestOfAll, FailedRequestOfAllQuery } from './failed-request.schemas.js';

type Row = Prisma.FailedRequestGetPayload<object>;

/** Reads the requests that failed. */
@Injectable()
export class FailedRequestRepository {
  constructor(private readonly prisma: PrismaService) {}

  /** Returns one page of failed requests, newest first, and how many of the range are missing. */
  async page({ limit, cursor, since, until, quotaId, ...others }: FailedRequestOfAllQuery) {
    const { requestId, keyId, status, code } = others;
    const rows = await this.prisma.failedRequest.findMany({
      where: {
        ...(requestId !== undefined && { requestId }),
        ...(keyId !== undefined && { keyId }),
        ...(quotaId !== undefined && { quotaId }),
        ...(status !== undefined && { status }),
        ...(code !== undefined && { code }),
        requestedAt: { ...(since && { gte: since }), ...(until && { lt: until }) },
        ...(cursor && {
          OR: [
            { requestedAt: { lt: cursor.requestedAt } },
            { requestedAt: cursor.requestedAt, id: { lt: cursor.id } },
          ],
        }),
      },
      orderBy: [{ requestedAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    const { entries, last } = toPage(rows, limit);
    const [requests, missing] = await Promise.all([
      this.withKeys(entries),
      this.countMissing(since, until, quotaId),
    ]);
    return { entries: requests, last: last && `${last.requestedAt.toISOString()}|${last.id}`, missing };
  }

  /**
   * Returns the newest failed request with an `X-Request-Id`.
   *
   * @param quotaId of the keys that may have sent it; by default any.
   * @throws ApiError `not_found`.
   */
  async find(requestId: string, quotaId?: string): Promise<FailedRequestOfAll> {
    // PostgreSQL rejects a text with NUL.
    const row = isPlainText(requestId)
      ? await this.prisma.failedRequest.findFirst({
          where: { requestId, ...(quotaId !== undefined && { quotaId }) },
          orderBy: { requestedAt: 'desc' },
        })
      : null;
    const [request] = row === null ? [] : await this.withKeys([row]);
    if (request === undefined) {
      const message =
        `No failed request with the id "${requestId}" is kept. Requests that succeeded are not; others are ` +
        `for a day, unless the service is set otherwise, up to ${STORED_PER_MINUTE_MAX} a minute of a quota.`;
      throw new ApiError('not_found', message);
    }
    return request;
  }

  private async withKeys(rows: Row[]): Promise<FailedRequestOfAll[]> {
    const ids = [...new Set(rows.flatMap(({ keyId }) => keyId ?? []))];
    const keys = await this.prisma.apiKey.findMany({
      where: { id: { in: ids } },
      select: { id: true, name: true, prefix: true, lastFour: true },
    });
    const keysById = new Map(keys.map((key) => [key.id, key]));
    return rows.map((row) => {
      const key = keysById.get(row.keyId ?? '');
      return {
        requestId: row.requestId,
        requestedAt: row.requestedAt.toISOString(),
        method: row.method,
        path: row.path,
        operation: row.operation,
        status: row.status,
        code: row.code as FailedRequestOfAll['code'],
        message: row.message,
        durationMs: row.durationMs,
        keyId: row.keyId,
        keyName: key?.name ?? null,
        prefix: key?.prefix ?? null,
        lastFour: key?.lastFour ?? null,
        quotaId: row.quotaId,
        clientAddress: row.clientAddress,
      };
    });
  }

  /** Returns how many requests of the minutes within the range failed and are not stored. */
  private async countMissing(since?: Date, until?: Date, quotaId?: string): Promise<number> {
    // A constant, because the condition of a parameter matches no partial index.
    const stored = Prisma.raw(`least(offered, ${STORED_PER_MINUTE_MAX})`);
    const conditions = [
      Prisma.sql`total > ${stored}`,
      ...(since ? [Prisma.sql`starts_at > ${since}::timestamptz - interval '1 minute'`] : []),
      ...(until ? [Prisma.sql`starts_at < ${until}::timestamptz`] : []),
      ...(quotaId === undefined ? [] : [Prisma.sql`quota_id = ${quotaId}::uuid`]),
    ];
    const [row] = await this.prisma.$queryRaw<[{ missing: number }]>`
      SELECT coalesce(sum(total - ${stored}), 0)::float8 AS missing
      FROM failed_request_minutes WHERE ${Prisma.join(conditions, ' AND ')}`;
    return row.missing;
  }
}
