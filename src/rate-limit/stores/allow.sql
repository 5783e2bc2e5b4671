-- Allows all requests of each bucket whose two windows have room for all of them, unless a ban is in force.
-- Returns a row for each such bucket, and leaves the others to consume.sql. That could decide about these
-- too, but costs PostgreSQL half as much again.
--
-- $1 bucket keys, $2 the number of requests for each, $3 its limit per minute, $4 its limit per day or NULL.
-- For one bucket, the store replaces the arrays by plain values.
--
-- Rows are locked in the order of their keys, as in consume.sql. DO UPDATE reads a row only once it has the
-- lock.
INSERT INTO rate_limit_counters AS stored (
  bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, day_limit,
  last_requests, last_allowed
)
SELECT
  bucket_key, (now_ms / 60000)::int, requests, minute_limit,
  (now_ms / 86400000)::int, requests, day_limit, requests, requests
FROM
  (SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS now_ms) AS clock,
  unnest($1::text[], $2::int[], $3::int[], $4::int[])
    AS bucket (bucket_key, requests, minute_limit, day_limit)
-- least() ignores NULL.
WHERE requests <= least(minute_limit, day_limit)
ORDER BY bucket_key
ON CONFLICT (bucket_key) DO UPDATE SET
  minute_number = EXCLUDED.minute_number,
  minute_used = EXCLUDED.last_requests
    + CASE WHEN stored.minute_number = EXCLUDED.minute_number THEN stored.minute_used ELSE 0 END,
  minute_limit = EXCLUDED.minute_limit,
  day_number = EXCLUDED.day_number,
  day_used = EXCLUDED.last_requests
    + CASE WHEN stored.day_number = EXCLUDED.day_number THEN stored.day_used ELSE 0 END,
  day_limit = EXCLUDED.day_limit,
  last_requests = EXCLUDED.last_requests,
  last_allowed = EXCLUDED.last_requests,
  last_denied = 0,
  minute_denied = CASE WHEN stored.minute_number = EXCLUDED.minute_number THEN stored.minute_denied ELSE 0 END
WHERE
  -- A window never goes back, though another statement may have opened a later one while this one waited for
  -- the lock.
  stored.minute_number <= EXCLUDED.minute_number
  AND stored.day_number <= EXCLUDED.day_number
  AND (
    stored.minute_number < EXCLUDED.minute_number
    OR stored.minute_used <= EXCLUDED.minute_limit - EXCLUDED.last_requests
  )
  -- Without a limit per day consume.sql stops the count at the largest value of its column.
  AND (
    stored.day_number < EXCLUDED.day_number
    OR stored.day_used <= coalesce(EXCLUDED.day_limit, 2147483647) - EXCLUDED.last_requests
  )
  AND (stored.banned_until IS NULL OR stored.banned_until <= statement_timestamp())
RETURNING
  bucket_key AS "bucketKey",
  minute_used AS "minuteUsed",
  day_used AS "dayUsed",
  minute_denied AS denials,
  (extract(epoch FROM statement_timestamp()) * 1000)::bigint::float8 AS "nowMs"
