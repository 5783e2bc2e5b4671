-- Stores requests that failed, up to a maximum for each quota and minute, and counts all of them.
--
-- $1 the recorder, $2 the number of its batch, $3 the batch: for each quota and minute (null without a valid
-- key), how many failed, and the first of them; $4 the maximum.
--
-- The row of a minute is updated first, so that replicas wait for each other and their requests together stay
-- within the maximum. A batch whose outcome was unknown is sent again: it finds its number, and changes
-- nothing. Rows are written in the order of their primary key, so that concurrent recorders do not deadlock.
WITH batch AS MATERIALIZED (
  SELECT
    coalesce("quotaId", '00000000-0000-0000-0000-000000000000') AS id,
    to_timestamp(minute * 60::float8) AS starts_at, total, json_array_length(requests) AS offered, requests
  FROM json_to_recordset($3::json) AS entry ("quotaId" uuid, minute int, total int, requests json)
),
counted AS (
  INSERT INTO failed_request_minutes AS stored (quota_id, starts_at, total, offered, batches)
  SELECT id, starts_at, total, offered, jsonb_build_object($1::text, $2::int)
  FROM batch ORDER BY id, starts_at
  ON CONFLICT (quota_id, starts_at) DO UPDATE SET
    total = stored.total + EXCLUDED.total,
    offered = stored.offered + EXCLUDED.offered,
    batches = stored.batches || EXCLUDED.batches
  WHERE coalesce((stored.batches ->> $1::text)::int, 0) < $2::int
  RETURNING quota_id AS id, starts_at, offered
)
INSERT INTO failed_requests (
  id, requested_at, request_id, method, path, operation, status, code, message, duration_ms, key_id,
  quota_id, client_address
)
SELECT
  request.id, to_timestamp("requestedAtMs" / 1000::float8), "requestId", method, path, operation, status,
  code, message, "durationMs", "keyId", "quotaId", "clientAddress"
FROM
  counted
  JOIN batch USING (id, starts_at),
  LATERAL ROWS FROM (
    json_to_recordset(batch.requests) AS (
      id uuid, "requestedAtMs" float8, "requestId" text, method text, path text, operation text, status int,
      code text, message text, "durationMs" float8, "keyId" uuid, "quotaId" uuid, "clientAddress" text
    )
  ) WITH ORDINALITY AS request (
    id, "requestedAtMs", "requestId", method, path, operation, status, code, message, "durationMs", "keyId",
    "quotaId", "clientAddress", number
  )
WHERE counted.offered - batch.offered + request.number <= $4::int
