-- Adds what a replica allowed while it could not count here, also beyond the limits. A window that is newer than the stored
-- one replaces it; one that is older adds nothing.
--
-- The replica numbers windows by its own clock, which may be ahead of this server's. A window that begins only later by this
-- server's clock would hold for every replica until its end, so it counts in the one that is open or stored here.
--
-- $1 bucket keys, each once, $2 number of the minute, $3 requests of that minute, $4 limit per minute, $5 number of the day,
-- $6 requests of that day, $7 limit per day or NULL, $8 as $5 of consume.sql.
--
-- A count stops at 2147483647, the largest that its column holds: else one such row would fail every report.
--
-- Rows are locked in the order of their keys, as in consume.sql.
WITH clock AS (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + $8::bigint AS now_ms
),
now AS (
  SELECT (now_ms / 60000)::int AS minute, (now_ms / 86400000)::int AS day FROM clock
),
taken AS (
  SELECT
    ask.subject,
    -- greatest() ignores the NULL of a bucket that is not stored.
    least(ask.minute, greatest(now.minute, known.minute)) AS minute,
    least(ask.minute_used, 2147483647) AS minute_used,
    ask.minute_limit,
    least(ask.day, greatest(now.day, known.day)) AS day,
    least(ask.day_used, 2147483647) AS day_used,
    ask.day_limit
  FROM
    now,
    unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::int[])
      AS ask (subject, minute, minute_used, minute_limit, day, day_used, day_limit)
    LEFT JOIN rate_limit_counters AS known ON known.subject = ask.subject
  ORDER BY ask.subject
)
INSERT INTO rate_limit_counters AS stored (
  subject, minute, minute_used, minute_limit, day, day_used, day_limit, granted
)
SELECT subject, minute, minute_used, minute_limit, day, day_used, day_limit, 0
FROM taken
ON CONFLICT (subject) DO UPDATE SET
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
