-- Removes rows whose windows are all over: strangers' after ten minutes, quotas' after two days. The margin
-- keeps a row whose statement is still waiting. A row with a ban, or with a step of the ladder that has not yet
-- fallen to the ground, is kept. Rows that somebody is counting on are skipped, not waited for, so that the sweep can
-- never be part of a deadlock. $1 as $5 of consume.sql, $2 how many rows at the most.
DELETE FROM rate_limit_counters
WHERE subject IN (
  SELECT subject
  FROM rate_limit_counters
  WHERE
    (
      (day_limit IS NULL AND minute < (extract(epoch FROM now()) * 1000 + $1::bigint)::bigint / 60000 - 10)
      OR day < (extract(epoch FROM now()) * 1000 + $1::bigint)::bigint / 86400000 - 1
    )
    AND (
      banned_until IS NULL
      -- Hours, as a day of the session's time zone may have 23 or 25.
      OR banned_until + ban_step * interval '24 hours' <= now() + make_interval(secs => $1::float8 / 1000)
    )
  LIMIT $2
  FOR UPDATE SKIP LOCKED
)
