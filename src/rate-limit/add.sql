-- Adds what a replica admitted while it could not count here, also beyond the limits. A window that is newer than the stored
-- one takes its place, with its own count; one that is older is over, and adds nothing.
--
-- $1 subjects, each once, $2 number of the minute, $3 requests of that minute, $4 limit per minute, $5 number of the day,
-- $6 requests of that day, $7 limit per day or NULL.
--
-- The numbers of windows are the replica's: it went on from the last time that it was told here. Rows are written in the order of
-- their subjects, as take.sql does.
WITH taken AS (
  SELECT *
  FROM
    unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
      AS taken (subject, minute, minute_used, minute_limit, day, day_used, day_limit)
  ORDER BY subject
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
    WHEN EXCLUDED.minute = stored.minute THEN stored.minute_used + EXCLUDED.minute_used
    ELSE stored.minute_used
  END,
  refusals = CASE WHEN EXCLUDED.minute > stored.minute THEN 0 ELSE stored.refusals END,
  day = greatest(stored.day, EXCLUDED.day),
  day_used = CASE
    WHEN EXCLUDED.day > stored.day THEN EXCLUDED.day_used
    WHEN EXCLUDED.day = stored.day THEN stored.day_used + EXCLUDED.day_used
    ELSE stored.day_used
  END
