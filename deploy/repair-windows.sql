-- Makes windows current that were opened while the clock was ahead. Keeps their counts, and shortens their
-- bans.
WITH now AS (
  SELECT
    floor(extract(epoch FROM now()) / 60)::int AS minute,
    floor(extract(epoch FROM now()) / 86400)::int AS day
), ahead AS (
  SELECT
    bucket_key,
    least(stored.minute_number, now.minute) AS minute,
    least(stored.day_number, now.day) AS day
  FROM rate_limit_counters AS stored, now
  WHERE stored.minute_number > now.minute + 1 OR stored.day_number > now.day + 1
  ORDER BY bucket_key FOR UPDATE OF stored
)
UPDATE rate_limit_counters AS stored SET
  minute_number = ahead.minute,
  day_number = ahead.day,
  banned_until = CASE
    WHEN banned_until > now() THEN banned_until - make_interval(mins => stored.minute_number - ahead.minute)
    ELSE banned_until
  END
FROM ahead WHERE stored.bucket_key = ahead.bucket_key;
