-- Reports that a replica serves, and returns all replicas that were seen within the last minute, oldest
-- first.
--
-- $1 its id, $2 its version, $3 its host, $4 the seconds since its start. All times are the database's; a
-- time after now is from before its clock was set back. Locked rows are skipped, so that this takes part in
-- no deadlock.
WITH reported AS (
  INSERT INTO replicas (id, version, host, started_at, last_seen_at)
  VALUES (
    $1::uuid, $2, $3,
    statement_timestamp() - make_interval(secs => $4::float8), statement_timestamp()
  )
  ON CONFLICT (id) DO UPDATE SET last_seen_at = EXCLUDED.last_seen_at
  RETURNING id, version, host, started_at, last_seen_at
),
gone AS (
  DELETE FROM replicas
  WHERE id = ANY (ARRAY(
    SELECT id FROM replicas
    WHERE id <> $1::uuid AND abs(extract(epoch FROM statement_timestamp() - last_seen_at)) > 60
    FOR UPDATE SKIP LOCKED
  ))
)
SELECT
  id, version, host,
  -- Prisma takes times as UTC, whatever the time zone of a pooler's session is.
  (extract(epoch FROM started_at) * 1000)::float8 AS "startedAtMs",
  (extract(epoch FROM last_seen_at) * 1000)::float8 AS "lastSeenAtMs"
FROM (
  SELECT id, version, host, started_at, last_seen_at FROM reported
  UNION ALL
  SELECT id, version, host, started_at, last_seen_at FROM replicas
  WHERE id <> $1::uuid AND abs(extract(epoch FROM statement_timestamp() - last_seen_at)) <= 60
) AS serving
ORDER BY started_at, id
