import { Prisma } from '../database/generated/client.js';
import { parseQuotaId, quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { isoText } from './queue-events.js';

/** The notice of the expiry of a key, and of the removal of an operation. */
const EXPIRY_DAYS = 14;
const REMOVAL_DAYS = 30;
/** The most keys that an event about a quota names. */
const NAMED_KEYS = 5;

// Each query returns the rows that `queueEvents` takes; `now` is the SQL of the time.

const dayText = (now: Prisma.Sql) => Prisma.sql`to_char(${now} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

/** The newest valid keys of the quota `quota`. */
const validKeys = (now: Prisma.Sql) => Prisma.sql`(
  SELECT coalesce(json_agg(valid), '[]') FROM (
    SELECT id, name FROM api_keys
    WHERE quota_id = quota.id AND revoked_at IS NULL AND coalesce(expires_at > ${now}, true)
    ORDER BY id DESC LIMIT ${NAMED_KEYS}
  ) AS valid
)`;

/**
 * Selects the quotas that have used 80 or 100 % of this day's limit: by the counters of PostgreSQL, else by usage, because another store
 * cannot be searched. Requests for the rate-limit status use nothing.
 */
export const dayLimits = (now: Prisma.Sql, ofPostgres: boolean) => Prisma.sql`
  SELECT
    threshold.type, concat_ws(':', quota.id, ${dayText(now)}),
    json_build_object('quotaId', quota.id, 'plan', quota.plan, 'limit', per_day, 'used', used, 'keys', ${validKeys(now)}),
    NULL::timestamptz
  FROM (${
    ofPostgres
      ? Prisma.sql`SELECT bucket_key AS bucket, day_used::float8 AS used FROM rate_limit_counters
          WHERE day = floor(extract(epoch FROM ${now}) / 86400)::int`
      : Prisma.sql`SELECT ${quotaBucketKey('')} || quota_id AS bucket,
            sum(succeeded + redirected + client_errors + server_errors - refusals)::float8 AS used
          FROM usage
          WHERE period = 'day' AND starts_at = date_trunc('day', ${now}, 'UTC') AND operation <> 'getRateLimit'
          GROUP BY quota_id`
  }) AS day
  JOIN (
    SELECT quotas.id, plan, coalesce(quotas.per_day, plans.per_day) AS per_day FROM quotas JOIN plans ON name = plan
  ) AS quota ON day.bucket = ${quotaBucketKey('')} || quota.id
  JOIN (VALUES ('quota.day_limit_80', 0.8), ('quota.day_limit_reached', 1)) AS threshold (type, share)
    ON used >= share * per_day`;

/** Selects these bans, by their buckets. */
export const bans = (now: Prisma.Sql, ends: Map<string, Date>) => Prisma.sql`
  SELECT
    'quota.banned', concat_ws(':', quota.id, extract(epoch FROM until)),
    json_build_object(
      'quotaId', quota.id, 'plan', plan, 'bannedUntil', ${isoText(Prisma.sql`until`)}, 'keys', ${validKeys(now)}
    ),
    until
  FROM unnest(${[...ends.keys()].map(parseQuotaId)}::uuid[], ${isoTexts([...ends.values()])}::timestamptz[]) AS ban (id, until)
  JOIN quotas AS quota USING (id)`;

/** Selects the valid keys that expire soon and have no successor. */
export const expiringKeys = (now: Prisma.Sql) => Prisma.sql`
  SELECT
    'key.expiring', concat_ws(':', id, extract(epoch FROM expires_at)),
    json_build_object(
      'keyId', id, 'name', name, 'quotaId', quota_id, 'expiresAt', ${isoText(Prisma.sql`expires_at`)}
    ),
    NULL::timestamptz
  FROM api_keys AS key
  WHERE
    revoked_at IS NULL
    AND expires_at > ${now} AND expires_at <= ${now} + make_interval(days => ${EXPIRY_DAYS}::int)
    AND NOT EXISTS (SELECT FROM api_keys WHERE predecessor_id = key.id)`;

/** Selects the keys that called, on this day, one of these operations if it is removed soon. */
export const deprecatedCalls = (now: Prisma.Sql, all: { operation: string; removal: Date }[]) => Prisma.sql`
  SELECT
    'operation.deprecated_called', concat_ws(':', operation, key_id, ${dayText(now)}),
    json_build_object(
      'operation', operation, 'removedAt', ${isoText(Prisma.sql`removed_at`)},
      'keyId', key_id, 'name', name, 'quotaId', usage.quota_id
    ),
    NULL::timestamptz
  FROM unnest(
    ${all.map(({ operation }) => operation)}::text[], ${isoTexts(all.map(({ removal }) => removal))}::timestamptz[]
  ) AS removal (operation, removed_at)
  JOIN usage USING (operation)
  JOIN api_keys ON api_keys.id = key_id
  WHERE
    deprecated AND period = 'day' AND starts_at = date_trunc('day', ${now}, 'UTC')
    AND removed_at > ${now} AND removed_at <= ${now} + make_interval(days => ${REMOVAL_DAYS}::int)`;

function isoTexts(instants: Date[]): string[] {
  return instants.map((instant) => instant.toISOString());
}
