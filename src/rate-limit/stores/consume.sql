-- Decides about the requests of many buckets, each bucket in one atomic step: allows them, counts denials,
-- starts bans. Runs when allow.sql found no room for all requests of a bucket.
--
-- $1 bucket keys, $2 the number of requests for each, $3 its limit per minute, $4 its limit per day or NULL,
-- $5 how many denials of a bucket within a minute start a ban, or NULL if none does,
-- $6 the ban durations in milliseconds, $7 milliseconds since the end of a ban after which its level falls by
-- one.
--
-- Allows as many requests of a bucket as there is room for. Each further request is denied and counts as a
-- denial. The denial that reaches the threshold starts a ban, and the requests after it meet that ban,
-- which counts nothing.
--
-- Rows are locked in the order of their keys, so that two replicas never deadlock. Requests are sorted before
-- rows are made of them, which is cheaper.
WITH clock AS MATERIALIZED (
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS now_ms
),
buckets AS (
  SELECT
    bucket.*,
    clock.now_ms,
    (clock.now_ms / 60000)::int AS minute,
    (clock.now_ms / 86400000)::int AS day,
    -- The limits hold for a new row too. least() ignores NULL.
    room.allowed,
    bucket.requests - room.allowed >= bucket.ban_threshold AS starts_ban
  FROM
    clock,
    unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::bigint[])
      AS bucket (bucket_key, requests, minute_limit, day_limit, ban_threshold),
    LATERAL (SELECT least(bucket.requests, bucket.minute_limit, bucket.day_limit) AS allowed) AS room
  ORDER BY bucket.bucket_key
)
INSERT INTO rate_limit_counters AS stored (
  bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, day_limit, ban_threshold,
  last_requests, last_allowed, last_denied, minute_denied, banned_until, ban_level
)
SELECT
  bucket_key, minute, allowed, minute_limit, day, allowed, day_limit, ban_threshold,
  requests,
  allowed,
  CASE WHEN starts_ban THEN ban_threshold ELSE requests - allowed END,
  CASE WHEN starts_ban THEN 0 ELSE requests - allowed END,
  CASE WHEN starts_ban THEN to_timestamp((now_ms + ($6::bigint[])[1]) / 1000::float8) END,
  CASE WHEN starts_ban THEN 1 ELSE 0 END
FROM buckets
ON CONFLICT (bucket_key) DO UPDATE SET
  (
    minute_number, minute_used, day_number, day_used, last_allowed, last_denied, minute_denied, banned_until,
    ban_level
  ) = (
    SELECT
      windows.minute,
      windows.minute_used + room.allowed,
      windows.day,
      -- Without a limit per day only the type of the column bounds this count.
      least(windows.day_used::bigint + room.allowed, 2147483647),
      room.allowed,
      denial.denied,
      CASE WHEN denial.denied = ban.denials_left THEN 0 ELSE windows.denials + denial.denied END,
      CASE
        WHEN denial.denied = ban.denials_left
          THEN to_timestamp((decision.now_ms + ($6::bigint[])[next_ban.level]) / 1000::float8)
        ELSE stored.banned_until
      END,
      CASE WHEN denial.denied = ban.denials_left THEN next_ban.level ELSE stored.ban_level END
    FROM
      -- The statement's time is fixed before it waits for a row's lock. Another statement may have opened a
      -- later window meanwhile, and a window never goes back.
      (SELECT
        greatest(stored.minute_number, EXCLUDED.minute_number) AS minute,
        CASE WHEN EXCLUDED.minute_number > stored.minute_number THEN 0 ELSE stored.minute_used END
          AS minute_used,
        CASE WHEN EXCLUDED.minute_number > stored.minute_number THEN 0 ELSE stored.minute_denied END
          AS denials,
        greatest(stored.day_number, EXCLUDED.day_number) AS day,
        CASE WHEN EXCLUDED.day_number > stored.day_number THEN 0 ELSE stored.day_used END AS day_used
      ) AS windows,
      -- The time of the decision: that of the statement; or the start of a window that was opened while this
      -- one waited; but never later than now, which is before that start if the clock was ahead.
      LATERAL (SELECT
        least(
          greatest(
            (SELECT now_ms FROM clock), windows.minute * 60000::bigint, windows.day * 86400000::bigint
          ),
          (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        ) AS now_ms
      ) AS decision,
      LATERAL (SELECT
        -- True also for a ban that another statement started while this one waited. The first comparison
        -- settles most rows.
        stored.banned_until IS NOT NULL
          AND EXCLUDED.ban_threshold IS NOT NULL
          AND stored.banned_until > to_timestamp(decision.now_ms / 1000::float8) AS lasts,
        -- The number of further denials that starts a ban, or NULL. If a lower threshold is reached already,
        -- it is 1.
        CASE
          WHEN EXCLUDED.ban_threshold IS NOT NULL THEN greatest(1, EXCLUDED.ban_threshold - windows.denials)
        END AS denials_left
      ) AS ban,
      -- OFFSET 0, here and below, makes PostgreSQL compute the value once instead of at each use, which would
      -- double the cost of the statement.
      LATERAL (SELECT
        CASE
          WHEN ban.lasts THEN 0
          ELSE greatest(0, least(
            EXCLUDED.last_requests,
            EXCLUDED.minute_limit - windows.minute_used,
            EXCLUDED.day_limit - windows.day_used
          ))
        END AS allowed
        OFFSET 0
      ) AS room,
      LATERAL (SELECT
        CASE
          WHEN ban.lasts THEN 0
          ELSE least(EXCLUDED.last_requests - room.allowed, ban.denials_left)
        END AS denied
        OFFSET 0
      ) AS denial,
      -- One level above that of the last ban, which falls by one each time that $7 has passed since its end.
      -- The last level repeats.
      LATERAL (SELECT
        least(
          cardinality($6::bigint[]),
          1 + greatest(0, stored.ban_level - coalesce(
            (decision.now_ms - (extract(epoch FROM stored.banned_until) * 1000)::bigint) / $7::bigint,
            0
          ))
        )::int AS level
      ) AS next_ban
  ),
  minute_limit = EXCLUDED.minute_limit,
  day_limit = EXCLUDED.day_limit,
  ban_threshold = EXCLUDED.ban_threshold,
  last_requests = EXCLUDED.last_requests
RETURNING
  bucket_key AS "bucketKey",
  last_allowed AS allowed,
  last_denied AS denied,
  minute_denied AS denials,
  (extract(epoch FROM banned_until) * 1000)::float8 AS "bannedUntilMs",
  minute_number AS minute,
  minute_used AS "minuteUsed",
  day_number AS day,
  day_used AS "dayUsed",
  -- As above, so that every wait starts now.
  least(
    greatest((SELECT now_ms FROM clock), minute_number * 60000::bigint, day_number * 86400000::bigint),
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  )::float8 AS "nowMs"
