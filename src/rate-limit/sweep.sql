-- Removes rows whose windows are all over: strangers' after ten minutes, quotas' after two days. The margin
-- keeps a row whose statement is still waiting. Rows that somebody is counting on are skipped, not waited for,
-- so that the sweep can never be part of a deadlock. $1 as $5 of take.sql, $2 how many rows at
-- the most.
DELETE FROM rate_limit_counters
WHERE subject IN (
  SELECT subject
  FROM rate_limit_counters
  WHERE
    (day_limit IS NULL AND minute < (extract(epoch FROM now()) * 1000 + $1::bigint)::bigint / 60000 - 10)
    OR day < (extract(epoch FROM now()) * 1000 + $1::bigint)::bigint / 86400000 - 1
  LIMIT $2
  FOR UPDATE SKIP LOCKED
)
