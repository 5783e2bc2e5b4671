-- Ends a bucket's ban now, and forgets its denials; the ban level stays. Returns no row if there is no ban.
-- $1 the bucket key.
--
-- The end is rounded down to the millisecond, the precision of consume.sql, so that the next request meets no
-- ban. The row is locked before it is read, so that RETURNING has the ban that is ended. The lock timeout
-- applies to this statement alone; it is set first, because rows are locked after the join.
WITH timeout AS MATERIALIZED (
  SELECT set_config('lock_timeout', '500ms', true)
),
ban AS (
  SELECT
    bucket_key,
    banned_until,
    date_trunc('milliseconds', statement_timestamp()) AS lifted_at
  FROM rate_limit_counters CROSS JOIN timeout
  WHERE bucket_key = $1 AND banned_until > statement_timestamp()
  FOR UPDATE OF rate_limit_counters
)
UPDATE rate_limit_counters AS stored
SET banned_until = ban.lifted_at, minute_denied = 0
FROM ban
WHERE stored.bucket_key = ban.bucket_key
RETURNING (extract(epoch FROM ban.banned_until) * 1000)::float8 AS "bannedUntilMs"
