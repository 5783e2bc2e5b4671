-- Decides about the requests of many buckets, each bucket in one atomic step: allows them, counts refusals, starts bans. Runs when
-- allow.sql found no room for all requests of a bucket.
--
-- $1 bucket keys, $2 the number of requests for each, $3 its limit per minute, $4 its limit per day or NULL,
-- $5 milliseconds to add to the server's clock (0 in production; tests shift the time), $6 the ban durations in milliseconds; empty
-- where bans are off.
--
-- The requests of a bucket are decided one by one. The first are allowed, as many as there is room for (granted). Each of the
-- rest counts as a refusal (refused), up to the one that makes as many within the minute as the limit per minute: it starts
-- a ban, which denies those after it. A bucket without a day window belongs to an anonymous client, and is never banned.
--
-- Rows are locked in the order of their keys, so that two replicas never deadlock. Requests are sorted before rows are made of
-- them, which is cheaper.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint + $5::bigint AS now_ms
),
asks AS (
  SELECT
    ask.*,
    clock.now_ms,
    (clock.now_ms / 60000)::int AS minute,
    (clock.now_ms / 86400000)::int AS day,
    -- What a new row may use: the limits hold for it too. least() ignores NULL.
    room.granted,
    ask.asked - room.granted >= ask.minute_limit
      AND ask.day_limit IS NOT NULL
      AND cardinality($6::bigint[]) > 0 AS starts_ban
  FROM
    clock,
    unnest($1::text[], $2::int[], $3::int[], $4::int[]) AS ask (subject, asked, minute_limit, day_limit),
    LATERAL (SELECT least(ask.asked, ask.minute_limit, ask.day_limit) AS granted) AS room
  ORDER BY ask.subject
)
INSERT INTO rate_limit_counters AS stored (
  subject, minute, minute_used, minute_limit, day, day_used, day_limit,
  asked, granted, refused, refusals, banned_until, ban_step
)
SELECT
  subject, minute, granted, minute_limit, day, granted, day_limit,
  asked,
  granted,
  CASE WHEN starts_ban THEN minute_limit ELSE asked - granted END,
  CASE WHEN starts_ban THEN 0 ELSE asked - granted END,
  CASE WHEN starts_ban THEN to_timestamp((now_ms + ($6::bigint[])[1]) / 1000::float8) END,
  CASE WHEN starts_ban THEN 1 ELSE 0 END
FROM asks
ON CONFLICT (subject) DO UPDATE SET
  (minute, minute_used, day, day_used, granted, refused, refusals, banned_until, ban_step) = (
    SELECT
      win.minute,
      win.minute_used + room.granted,
      win.day,
      -- Without a limit per day only the type of the column bounds this count.
      least(win.day_used::bigint + room.granted, 2147483647),
      room.granted,
      refusal.refused,
      CASE WHEN refusal.refused = ban.threshold THEN 0 ELSE win.refusals + refusal.refused END,
      CASE
        WHEN refusal.refused = ban.threshold
          THEN to_timestamp((moment.at_ms + ($6::bigint[])[ladder.step]) / 1000::float8)
        ELSE stored.banned_until
      END,
      CASE WHEN refusal.refused = ban.threshold THEN ladder.step ELSE stored.ban_step END
    FROM
      -- The statement's time is fixed before it waits for a row's lock. Another statement may have opened a later window
      -- meanwhile, and a window never goes back.
      (SELECT
        greatest(stored.minute, EXCLUDED.minute) AS minute,
        CASE WHEN EXCLUDED.minute > stored.minute THEN 0 ELSE stored.minute_used END AS minute_used,
        CASE WHEN EXCLUDED.minute > stored.minute THEN 0 ELSE stored.refusals END AS refusals,
        greatest(stored.day, EXCLUDED.day) AS day,
        CASE WHEN EXCLUDED.day > stored.day THEN 0 ELSE stored.day_used END AS day_used
      ) AS win,
      -- The time of the decision: never before its windows began.
      LATERAL (SELECT
        greatest((SELECT now_ms FROM clock), win.minute * 60000::bigint, win.day * 86400000::bigint) AS at_ms
      ) AS moment,
      LATERAL (SELECT
        -- True also for a ban that another statement started while this one waited. The first comparison settles most rows.
        stored.banned_until IS NOT NULL
          AND cardinality($6::bigint[]) > 0
          AND stored.banned_until > to_timestamp(moment.at_ms / 1000::float8) AS lasts,
        -- The number of further refusals that starts a ban, or NULL. If the limit was lowered below what was refused already,
        -- the next one starts it.
        CASE
          WHEN EXCLUDED.day_limit IS NOT NULL AND cardinality($6::bigint[]) > 0
            THEN greatest(1, EXCLUDED.minute_limit - win.refusals)
        END AS threshold
      ) AS ban,
      -- OFFSET 0 here and below has the value computed once. The planner would else repeat it at each use, which doubles the
      -- cost of the statement.
      LATERAL (SELECT
        CASE
          WHEN ban.lasts THEN 0
          ELSE greatest(0, least(
            EXCLUDED.asked,
            EXCLUDED.minute_limit - win.minute_used,
            EXCLUDED.day_limit - win.day_used
          ))
        END AS granted
        OFFSET 0
      ) AS room,
      LATERAL (SELECT
        CASE WHEN ban.lasts THEN 0 ELSE least(EXCLUDED.asked - room.granted, ban.threshold) END AS refused
        OFFSET 0
      ) AS refusal,
      -- One level above that of the last ban, which falls by one for each full 24 hours since it ended; the last level repeats.
      LATERAL (SELECT
        least(
          cardinality($6::bigint[]),
          1 + greatest(0, stored.ban_step - coalesce(
            (moment.at_ms - (extract(epoch FROM stored.banned_until) * 1000)::bigint) / 86400000,
            0
          ))
        )::int AS step
      ) AS ladder
  ),
  minute_limit = EXCLUDED.minute_limit,
  day_limit = EXCLUDED.day_limit,
  asked = EXCLUDED.asked
RETURNING
  subject AS "bucketKey",
  granted AS allowed,
  refused AS denied,
  refusals,
  banned_until AS "bannedUntil",
  minute,
  minute_used AS "minuteUsed",
  day,
  day_used AS "dayUsed",
  -- Never before the window that was counted in, so that no response has more seconds to go than a window is long.
  greatest((SELECT now_ms FROM clock), minute * 60000::bigint, day * 86400000::bigint)::float8 AS "nowMs",
  (SELECT now_ms FROM clock)::float8 AS "clockMs"
