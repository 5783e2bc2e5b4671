-- Writes the heartbeat of a replica, and deletes the rows of replicas that were not seen for a day. Locked rows are skipped, so that
-- replicas that delete the same rows do not wait for each other.
--
-- $1 the replica, $2 its host, $3 the milliseconds since it started, $4 since when it counts locally, or NULL, $5 milliseconds to add to
-- the server's clock (0 in production; tests travel in time with it).
WITH clock AS (
  SELECT statement_timestamp() + make_interval(secs => $5::float8 / 1000) AS now
),
deleted AS (
  DELETE FROM replicas
  WHERE id IN (
    SELECT id
    FROM replicas
    WHERE id <> $1::uuid AND seen_at < (SELECT now FROM clock) - interval '1 day'
    FOR UPDATE SKIP LOCKED
  )
)
INSERT INTO replicas (id, host, started_at, seen_at, counts_locally_since)
SELECT $1::uuid, $2::text, now - make_interval(secs => $3::float8 / 1000), now, $4::timestamptz
FROM clock
ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at, counts_locally_since = EXCLUDED.counts_locally_since
