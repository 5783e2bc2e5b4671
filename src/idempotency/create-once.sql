-- Creates records for many requests, of which some have an Idempotency-Key: its quota $1 and key $2, and the fingerprint $3. $4 is the
-- offset of the service's clock in seconds, $5 and on are the columns of the records. A key occurs once at most.
--
-- Returns for each request whether its record was created, whether it is valid, whether a response stored earlier is to the same
-- request, and the body and the path of the new or the stored response. Without a body, a request that is valid has the key of another in flight.
--
-- The arrays are read by SELECTs of their own, which hide their length from the planner: otherwise it plans each execution anew, which
-- costs more than the execution. With generate_series it expects a thousand rows, and hashes them where it joins.
WITH request AS MATERIALIZED (
  SELECT request.*, {is_valid} AS is_valid
  FROM
    ROWS FROM (
      generate_series(1, (SELECT cardinality($2::text[]))),
      unnest(
        (SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $3::bytea[]), {arrays}
      )
    ) AS request (number, owner_id, key, fingerprint, {columns})
),
-- Waiting for a request in flight would delay all others, so a lock is tried, and held until the transaction ends.
draft AS MATERIALIZED (
  SELECT *, {json} AS body, {location} AS location
  FROM (
    SELECT nextval('{table}_id_seq') AS id, *
    FROM request
    WHERE is_valid AND (key IS NULL OR pg_try_advisory_xact_lock(hashtextextended(owner_id || ' ' || key, 0)))
    ORDER BY number
  ) AS numbered
),
-- A response of the last 24 hours stays as it is. It is updated all the same, because RETURNING then returns it, also when it was committed
-- after this statement began.
stored AS (
  INSERT INTO stored_responses AS earlier (quota_id, key, fingerprint, body, location, stored_at)
  SELECT
    owner_id, key, fingerprint, body, location, statement_timestamp() + make_interval(secs => $4::float8)
  FROM draft
  WHERE key IS NOT NULL
  ON CONFLICT (quota_id, key) DO UPDATE SET
    (fingerprint, body, location, stored_at) = (
      SELECT fingerprint, body, location, stored_at
      FROM (VALUES
        (false, earlier.fingerprint, earlier.body, earlier.location, earlier.stored_at),
        (true, EXCLUDED.fingerprint, EXCLUDED.body, EXCLUDED.location, EXCLUDED.stored_at)
      ) AS response (is_new, fingerprint, body, location, stored_at)
      WHERE is_new = (earlier.stored_at <= EXCLUDED.stored_at - interval '24 hours')
    )
  RETURNING quota_id AS owner_id, key, fingerprint, body, location
),
result AS MATERIALIZED (
  SELECT
    draft.*, key IS NULL OR stored.body = draft.body AS is_created, stored.fingerprint = draft.fingerprint AS is_same,
    stored.body AS stored_body, stored.location AS stored_location
  FROM draft LEFT JOIN stored USING (owner_id, key)
),
created AS (
  INSERT INTO {table} (id, {columns}) SELECT id, {columns} FROM result WHERE is_created
)
SELECT
  coalesce(result.is_created, false), request.is_valid,
  coalesce(result.is_same, earlier.fingerprint = request.fingerprint),
  coalesce(result.stored_body, result.body, earlier.body),
  coalesce(result.stored_location, result.location, earlier.location)
FROM
  request
  LEFT JOIN result USING (number)
  -- A request that is not valid any more gets its response all the same. OFFSET makes PostgreSQL read it for such requests alone.
  LEFT JOIN LATERAL (
    SELECT * FROM stored_responses AS stored
    WHERE
      NOT request.is_valid AND stored.quota_id = request.owner_id AND stored.key = request.key
      AND stored.stored_at > statement_timestamp() + make_interval(secs => $4::float8) - interval '24 hours'
    OFFSET 0
  ) AS earlier ON true
ORDER BY number
