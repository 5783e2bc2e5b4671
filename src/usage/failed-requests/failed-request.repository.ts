import { Injectable } from '@nestjs/common';
import { Prisma } from '../../database/generated/client.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { ApiError } from '../../http/routes/api-error.js';
import { requireRange } from '../../http/routes/require-range.js';
import { toPage } from '../../schemas/pagination.js';
import { isPlainText } from '../../schemas/text-schemas.js';
import { STORED_PER_MINUTE_MAX } from '../rules/failed-request-batch.js';
import type { AdminFailedRequest, AdminFailedRequestQuery } from './failed-request.schemas.js';

/** A failed request with its key, and what its quota is now; both may have been deleted by hand. */
type Row = Omit<AdminFailedRequest, 'requestedAt'> & { id: string; requestedAt: Date };

/** Without the retention that is set, because a terminal may have other settings than the service. */
const KEPT =
  'Requests that succeed are not kept; those that fail are kept for 24 hours unless the service is set ' +
  `otherwise, at most ${STORED_PER_MINUTE_MAX} a minute for a quota.`;

/** Reads the requests that failed. */
@Injectable()
export class FailedRequestRepository {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * Returns one page of failed requests, newest first, and how many of the range are missing.
   *
   * @throws ApiError `invalid_request` for a range that does not end after it starts.
   */
  async page(query: AdminFailedRequestQuery) {
    const { limit, cursor, requestId, keyId, status, code, since, until } = query;
    requireRange(query);
    const conditions = [
      ...(requestId === undefined ? [] : [Prisma.sql`r.request_id = ${requestId}`]),
      ...(keyId === undefined ? [] : [Prisma.sql`r.key_id = ${keyId}::uuid`]),
      ...ofQuotas(query),
      ...(status === undefined ? [] : [Prisma.sql`r.status = ${status}::int`]),
      ...(code === undefined ? [] : [Prisma.sql`r.code = ${code}`]),
      ...(since ? [Prisma.sql`r.requested_at >= ${since}::timestamptz`] : []),
      ...(until ? [Prisma.sql`r.requested_at < ${until}::timestamptz`] : []),
      ...(cursor
        ? [Prisma.sql`(r.requested_at, r.id) < (${cursor.requestedAt}::timestamptz, ${cursor.id}::uuid)`]
        : []),
    ];
    const [rows, missing] = await Promise.all([this.read(conditions, limit + 1), this.countMissing(query)]);
    const { entries, last } = toPage(rows, limit);
    return {
      entries: entries.map(toRequest),
      last: last && `${last.requestedAt.toISOString()}|${last.id}`,
      missing,
    };
  }

  /**
   * Returns the newest failed request with an `X-Request-Id`.
   *
   * @param quotaId of the keys that may have sent it; by default any.
   * @throws ApiError `not_found`.
   */
  async find(requestId: string, quotaId?: string): Promise<AdminFailedRequest> {
    const conditions = [Prisma.sql`r.request_id = ${requestId}`, ...ofQuotas({ quotaId })];
    // PostgreSQL rejects a text with NUL.
    const [request] = isPlainText(requestId) ? await this.read(conditions, 1) : [];
    if (request === undefined) {
      const message = `No failed request with the id "${requestId}" is kept. ${KEPT}`;
      throw new ApiError('not_found', message);
    }
    return toRequest(request);
  }

  /** Returns the newest requests that meet all conditions on the request `r`. */
  private read(conditions: Prisma.Sql[], limit: number): Promise<Row[]> {
    return this.prisma.$queryRaw<Row[]>`
      SELECT
        r.id, request_id AS "requestId", requested_at AS "requestedAt", method, path, operation, status, code,
        message, duration_ms AS "durationMs", key_id AS "keyId", k.name AS "keyName", prefix,
        last_four AS "lastFour", r.quota_id AS "quotaId", plan, external_id AS "externalId",
        client_address AS "clientAddress"
      FROM
        failed_requests r LEFT JOIN api_keys k ON k.id = r.key_id LEFT JOIN quotas q ON q.id = r.quota_id
      WHERE ${Prisma.join([Prisma.sql`true`, ...conditions], ' AND ')}
      ORDER BY r.requested_at DESC, r.id DESC
      LIMIT ${limit}`;
  }

  /** Returns how many requests of the minutes within the range failed and are not stored. */
  private async countMissing({ since, until, ...quotas }: AdminFailedRequestQuery): Promise<number> {
    // A constant, because the condition of a parameter matches no partial index.
    const stored = Prisma.raw(`least(offered, ${STORED_PER_MINUTE_MAX})`);
    const conditions = [
      Prisma.sql`total > ${stored}`,
      ...(since ? [Prisma.sql`starts_at > ${since}::timestamptz - interval '1 minute'`] : []),
      ...(until ? [Prisma.sql`starts_at < ${until}::timestamptz`] : []),
      ...ofQuotas(quotas),
    ];
    const [row] = await this.prisma.$queryRaw<[{ missing: number }]>`
      SELECT coalesce(sum(total - ${stored}), 0)::float8 AS missing
      FROM failed_request_minutes r WHERE ${Prisma.join(conditions, ' AND ')}`;
    return row.missing;
  }
}

/** Returns the conditions that select the quotas of the requests `r`, or of their minutes. */
function ofQuotas({ quotaId, externalId }: Pick<AdminFailedRequestQuery, 'quotaId' | 'externalId'>) {
  return [
    ...(quotaId === undefined ? [] : [Prisma.sql`r.quota_id = ${quotaId}::uuid`]),
    ...(externalId === undefined
      ? []
      : [Prisma.sql`r.quota_id IN (SELECT id FROM quotas WHERE external_id = ${externalId})`]),
  ];
}

function toRequest({ id: _id, requestedAt, ...request }: Row): AdminFailedRequest {
  return { ...request, requestedAt: requestedAt.toISOString() };
}
