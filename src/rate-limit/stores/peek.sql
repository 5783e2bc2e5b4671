-- Returns a bucket's windows, denials and ban as they are now. $1 the bucket key.
--
-- A stored window may be later than this statement's time, and never goes back.
WITH clock AS (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS now_ms
),
now AS (
  SELECT now_ms, (now_ms / 60000)::int AS minute, (now_ms / 86400000)::int AS day FROM clock
)
SELECT
  greatest(stored.minute_number, now.minute) AS minute,
  CASE WHEN stored.minute_number >= now.minute THEN stored.minute_used ELSE 0 END AS "minuteUsed",
  greatest(stored.day_number, now.day) AS day,
  CASE WHEN stored.day_number >= now.day THEN stored.day_used ELSE 0 END AS "dayUsed",
  CASE WHEN stored.minute_number >= now.minute THEN stored.minute_denied ELSE 0 END AS denials,
  (extract(epoch FROM stored.banned_until) * 1000)::float8 AS "bannedUntilMs",
  now.now_ms::float8 AS "nowMs"
FROM now LEFT JOIN rate_limit_counters AS stored ON stored.bucket_key = $1
