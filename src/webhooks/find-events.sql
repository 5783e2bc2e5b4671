-- Finds events that no transaction causes and that were not queued before, of the types and quotas that
-- webhooks receive, at most 250, which are inserted for 20 webhooks well within the timeout of a statement:
-- the type, the subject, the data.
--
-- $1 whether PostgreSQL counts requests: another store cannot be searched, so that usage tells the use of a
-- day, $2 the end of each ban by bucket, $3 the removal of each deprecated operation, both as JSON, $4 the
-- operations whose requests use nothing, $5 the types to find: PostgreSQL skips the sources of the others.
WITH clock AS MATERIALIZED (
  SELECT now, floor(extract(epoch FROM now) / 86400)::int AS day
  FROM (SELECT statement_timestamp()) AS clock (now)
),
quota AS NOT MATERIALIZED (
  SELECT
    'quota:' || quotas.id AS bucket_key, coalesce(quotas.per_day, plans.per_day) AS per_day,
    jsonb_build_object('quotaId', quotas.id, 'externalId', external_id, 'plan', plan) AS facts
  FROM quotas JOIN plans ON name = plan
),
key AS NOT MATERIALIZED (
  SELECT
    k.id AS key_id, revoked_at, expires_at,
    jsonb_build_object(
      'keyId', k.id, 'keyName', name, 'quotaId', quota_id, 'externalId', external_id
    ) AS facts
  FROM api_keys k JOIN quotas q ON q.id = quota_id
),
used AS (
  SELECT bucket_key, day_used::float8 AS used FROM rate_limit_counters JOIN clock ON day_number = day
  WHERE $1::bool
  UNION ALL
  SELECT 'quota:' || quota_id, sum(succeeded + redirected + client_errors + server_errors - denied)::float8
  FROM usage, clock
  WHERE NOT $1::bool AND period = 'day' AND starts_at = to_timestamp(day * 86400.0)
    AND operation <> ALL ($4::text[])
  GROUP BY quota_id
),
event AS (
  SELECT
    type, concat_ws(':', bucket_key, day) AS subject,
    facts || jsonb_build_object('limit', per_day, 'used', used, 'thresholdPercent', percent) AS data
  FROM
    clock, used JOIN quota USING (bucket_key),
    (
      VALUES ('quota.day_limit_approaching', 80), ('quota.day_limit_reached', 100)
    ) AS threshold (type, percent)
  WHERE used >= percent / 100.0 * per_day
  UNION ALL
  SELECT
    'quota.banned', concat_ws(':', bucket_key, banned_until),
    facts || jsonb_build_object('bannedUntil', banned_until)
  FROM jsonb_each_text($2::jsonb) AS ban (bucket_key, banned_until) JOIN quota USING (bucket_key)
  UNION ALL
  SELECT
    'key.expiring', concat_ws(':', key_id, extract(epoch FROM expires_at)),
    facts || jsonb_build_object(
      'expiresAt', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )
  FROM clock, key
  WHERE
    revoked_at IS NULL
    AND expires_at > now AND expires_at <= now + interval '14 days'
    AND NOT EXISTS (SELECT FROM api_keys WHERE predecessor_id = key_id)
  UNION ALL
  SELECT
    'key.deprecated_operation_called',
    concat_ws(':', operation, key_id, floor(extract(epoch FROM starts_at) / 86400)),
    facts || jsonb_build_object('operation', operation, 'sunsetAt', sunset_at)
  FROM
    clock, jsonb_each_text($3::jsonb) AS removal (operation, sunset_at) JOIN usage USING (operation)
    JOIN key USING (key_id)
  WHERE
    -- Usage of a day's last moments is aggregated on the next day.
    deprecated AND period = 'day' AND starts_at >= to_timestamp((day - 1) * 86400.0)
    AND sunset_at::timestamptz > now AND sunset_at::timestamptz <= last_request_at + interval '30 days'
)
SELECT type, subject, data
FROM event
WHERE
  type = ANY ($5::text[])
  AND EXISTS (
    SELECT FROM webhooks
    WHERE
      paused_at IS NULL AND events && ARRAY[type, '*']
      AND (quota_id IS NULL OR quota_id::text = data ->> 'quotaId')
  )
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE dedupe_key = concat_ws(':', type, subject))
LIMIT 250
