-- Adds what a replica allowed while it could not count here, also beyond the limits. A window newer than the stored one replaces it;
-- an older one adds nothing.
--
-- The replica numbers windows by its own clock, which may be ahead. A window that has not begun by this server's clock counts in the
-- window that is open or stored here; else it would be in force for every replica until its end.
--
-- $1 bucket keys, each once, $2 number of the minute, $3 requests of that minute, $4 limit per minute, $5 number of the day,
-- $6 requests of that day, $7 limit per day or NULL, $8 as $5 of consume.sql.
--
-- A count stops at 2147483647, the largest value of its column: else one such row would fail every report.
--
-- Rows are locked in the order of their keys, as in consume.sql.
WITH clock AS (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + $8::bigint AS now_ms
),
now AS (
  SELECT (now_ms / 60000)::int AS minute, (now_ms / 86400000)::int AS day FROM clock
),
usage AS (
  SELECT
    reported.bucket_key,
    -- greatest() ignores the NULL of a bucket that is not stored.
    least(reported.minute, greatest(now.minute, stored.minute)) AS minute,
    least(reported.minute_used, 2147483647) AS minute_used,
    reported.minute_limit,
    least(reported.day, greatest(now.day, stored.day)) AS day,
    least(reported.day_used, 2147483647) AS day_used,
    reported.day_limit
  FROM
    now,
    unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::int[])
      AS reported (bucket_key, minute, minute_used, minute_limit, day, day_used, day_limit)
    LEFT JOIN rate_limit_counters AS stored ON stored.bucket_key = reported.bucket_key
  ORDER BY reported.bucket_key
)
INSERT INTO rate_limit_counters AS stored (
  bucket_key, minute, minute_used, minute_limit, day, day_used, day_limit, allowed
)
SELECT bucket_key, minute, minute_used, minute_limit, day, day_used, day_limit, 0
FROM usage
ON CONFLICT (bucket_key) DO UPDATE SET
  minute = greatest(stored.minute, EXCLUDED.minute),
  minute_used = CASE
    WHEN EXCLUDED.minute > stored.minute THEN EXCLUDED.minute_used
    WHEN EXCLUDED.minute = stored.minute THEN least(stored.minute_used::bigint + EXCLUDED.minute_used, 2147483647)
    ELSE stored.minute_used
  END,
  refusals = CASE WHEN EXCLUDED.minute > stored.minute THEN 0 ELSE stored.refusals END,
  day = greatest(stored.day, EXCLUDED.day),
  day_used = CASE
    WHEN EXCLUDED.day > stored.day THEN EXCLUDED.day_used
    WHEN EXCLUDED.day = stored.day THEN least(stored.day_used::bigint + EXCLUDED.day_used, 2147483647)
    ELSE stored.day_used
  END
