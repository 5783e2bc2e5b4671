-- Deletes rows whose windows are over: of anonymous clients after ten minutes, of quotas after two days, so that no statement still
-- waits for one. Keeps rows with a ban, or with a ban level that is not back to zero. Skips locked rows instead of waiting for them.
-- $1 the maximum number of rows, $2 as $5 of consume.sql.
DELETE FROM rate_limit_counters
WHERE bucket_key IN (
  SELECT bucket_key
  FROM rate_limit_counters
  WHERE
    (
      (day_limit IS NULL AND minute < (extract(epoch FROM now()) * 1000 + $2::bigint)::bigint / 60000 - 10)
      OR day < (extract(epoch FROM now()) * 1000 + $2::bigint)::bigint / 86400000 - 1
    )
    AND (
      banned_until IS NULL
      -- Hours, because a day of the session's time zone may have 23 or 25.
      OR banned_until + ban_level * interval '24 hours' <= now() + make_interval(secs => $2::float8 / 1000)
    )
  LIMIT $1
  FOR UPDATE SKIP LOCKED
)
RETURNING 1
