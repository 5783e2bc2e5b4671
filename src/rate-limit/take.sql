-- Takes requests from the windows of many subjects at once, each subject's in one atomic step.
--
-- $1 subjects, $2 how many requests each asks for, $3 its limit per minute, $4 its limit per day or NULL,
-- $5 milliseconds to add to the server's clock (0 in production; tests travel in time with it).
--
-- Rows are written in the order of their subjects, so that two replicas never wait for each other in a circle.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + $5::bigint AS now_ms
),
asks AS (
  SELECT
    ask.subject,
    -- What an empty pair of windows would grant: a new row is held to the limits too. least() ignores NULL.
    least(ask.asked, ask.minute_limit, ask.day_limit) AS asked,
    ask.minute_limit,
    ask.day_limit,
    (clock.now_ms / 60000)::int AS minute,
    (clock.now_ms / 86400000)::int AS day
  FROM clock, unnest($1::text[], $2::int[], $3::int[], $4::int[]) AS ask (subject, asked, minute_limit, day_limit)
)
INSERT INTO rate_limit_counters AS stored
  (subject, minute, minute_used, minute_limit, day, day_used, day_limit, granted)
SELECT subject, minute, asked, minute_limit, day, asked, day_limit, asked
FROM asks
ORDER BY subject
ON CONFLICT (subject) DO UPDATE SET
  (minute, minute_used, day, day_used, granted) = (
    SELECT
      win.minute, win.minute_used + room.granted, win.day, win.day_used + room.granted, room.granted
    FROM
      -- The statement's time is fixed before it waits for a row's lock. Who held the lock may have opened a
      -- later window meanwhile, and a window never goes back: hence the greater of the stored and the asked.
      (SELECT
        greatest(stored.minute, EXCLUDED.minute) AS minute,
        CASE WHEN EXCLUDED.minute > stored.minute THEN 0 ELSE stored.minute_used END AS minute_used,
        greatest(stored.day, EXCLUDED.day) AS day,
        CASE WHEN EXCLUDED.day > stored.day THEN 0 ELSE stored.day_used END AS day_used
      ) AS win,
      -- EXCLUDED.granted is what was asked for; all windows grant the same number, or less.
      LATERAL (SELECT
        greatest(0, least(
          EXCLUDED.granted,
          EXCLUDED.minute_limit - win.minute_used,
          EXCLUDED.day_limit - win.day_used
        )) AS granted
      ) AS room
  ),
  minute_limit = EXCLUDED.minute_limit,
  day_limit = EXCLUDED.day_limit
RETURNING
  subject,
  granted,
  minute,
  minute_used,
  day,
  day_used,
  -- Never before the window that was counted in, so that no response tells more seconds than a window has.
  greatest((SELECT now_ms FROM clock), minute * 60000::bigint, day * 86400000::bigint)::float8 AS now_ms
