-- Ends a subject's ban now, and forgets its refusals; the step of the ladder stays. No row where there is no ban.
-- $1 as $5 of consume.sql, $2 the subject.
--
-- The end is rounded down to the millisecond: consume.sql reads it in milliseconds, and the very next request is free.
-- The row is locked before it is read, so that RETURNING tells the ban that is ended, whatever else is under way. Who holds
-- it is waited for half a second, for this statement alone; rows are locked after all of the join below is known, patience too.
WITH patience AS MATERIALIZED (
  SELECT set_config('lock_timeout', '500ms', true)
),
ban AS (
  SELECT
    subject,
    banned_until,
    date_trunc('milliseconds', statement_timestamp() + make_interval(secs => $1::float8 / 1000)) AS lifted_at
  FROM rate_limit_counters CROSS JOIN patience
  WHERE subject = $2 AND banned_until > statement_timestamp() + make_interval(secs => $1::float8 / 1000)
  FOR UPDATE OF rate_limit_counters
)
UPDATE rate_limit_counters AS stored
SET banned_until = ban.lifted_at, refusals = 0
FROM ban
WHERE stored.subject = ban.subject
RETURNING ban.banned_until
