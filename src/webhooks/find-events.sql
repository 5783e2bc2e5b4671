-- Finds events that no transaction causes and that were not queued before, of the types that webhooks receive, at most 1000: the type, the
-- subject, the data.
--
-- $1 milliseconds to add to the server's clock (0 in production), $2 whether PostgreSQL counts requests: another store cannot be searched,
-- so that usage tells the use of a day, $3 bans (quotaId, bannedUntil) and $4 deprecated operations (operation, removedAt), both as JSON.
WITH clock AS MATERIALIZED (
  SELECT now, to_char(now AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today, date_trunc('day', now, 'UTC') AS day
  FROM (SELECT statement_timestamp() + make_interval(secs => $1::float8 / 1000)) AS clock (now)
),
quota AS (
  SELECT quotas.id, plan, coalesce(quotas.per_day, plans.per_day) AS per_day FROM quotas JOIN plans ON name = plan
),
used AS (
  SELECT bucket_key, day_used::float8 AS used FROM rate_limit_counters, clock
  WHERE $2::bool AND rate_limit_counters.day = floor(extract(epoch FROM now) / 86400)::int
  UNION ALL
  -- Requests for the rate-limit status use nothing.
  SELECT 'quota:' || quota_id, sum(succeeded + redirected + client_errors + server_errors - refusals)::float8
  FROM usage, clock
  WHERE NOT $2::bool AND period = 'day' AND starts_at = day AND operation <> 'getRateLimit'
  GROUP BY quota_id
),
about_quota AS (
  SELECT type, concat_ws(':', id, today) AS subject, id, jsonb_build_object('limit', per_day, 'used', used) AS facts
  FROM clock, quota, used, (VALUES ('quota.day_limit_80', 0.8), ('quota.day_limit_reached', 1)) AS threshold (type, share)
  WHERE bucket_key = 'quota:' || id AND used >= share * per_day
  UNION ALL
  SELECT 'quota.banned', concat_ws(':', "quotaId", "bannedUntil"), "quotaId", jsonb_build_object('bannedUntil', "bannedUntil")
  FROM jsonb_to_recordset($3::jsonb) AS ban ("quotaId" uuid, "bannedUntil" text)
),
about_key AS (
  SELECT
    'key.expiring' AS type, concat_ws(':', id, extract(epoch FROM expires_at)) AS subject, id,
    jsonb_build_object('expiresAt', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS facts
  FROM clock, api_keys AS key
  WHERE
    revoked_at IS NULL
    AND expires_at > now AND expires_at <= now + interval '14 days'
    AND NOT EXISTS (SELECT FROM api_keys WHERE predecessor_id = key.id)
  UNION ALL
  SELECT
    'operation.deprecated_called', concat_ws(':', operation, key_id, today), key_id,
    jsonb_build_object('operation', operation, 'removedAt', "removedAt")
  FROM clock, jsonb_to_recordset($4::jsonb) AS removal (operation text, "removedAt" text) JOIN usage USING (operation)
  WHERE
    deprecated AND period = 'day' AND starts_at = day
    AND "removedAt"::timestamptz > now AND "removedAt"::timestamptz <= now + interval '30 days'
),
event AS (
  SELECT type, subject, facts || jsonb_build_object('quotaId', id, 'plan', plan, 'keys', (
    -- The newest valid keys.
    SELECT coalesce(jsonb_agg(valid), '[]') FROM (
      SELECT key.id, name FROM api_keys AS key
      WHERE quota_id = quota.id AND revoked_at IS NULL AND coalesce(expires_at > now, true)
      ORDER BY key.id DESC LIMIT 5
    ) AS valid
  )) AS data
  FROM clock, about_quota JOIN quota USING (id)
  UNION ALL
  SELECT type, subject, facts || jsonb_build_object('keyId', id, 'name', name, 'quotaId', quota_id)
  FROM about_key JOIN api_keys USING (id)
)
SELECT type, subject, data
FROM event
WHERE
  type IN (SELECT unnest(events) FROM webhook_endpoints)
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE event_key = concat_ws(':', type, subject))
LIMIT 1000
