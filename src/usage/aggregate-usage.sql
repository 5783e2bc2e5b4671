-- Moves journaled batches of all recorders, the oldest first, into the rows of their minutes, hours and days.
-- Returns whether batches are left beyond the limit.
--
-- $1 the maximum number of entries, though at least one batch is moved; $2 whether batches of the current
-- minute are included. An update of a row costs less per entry the more entries it adds, so a batch waits for
-- the end of its minute unless a reader needs it.
--
-- One statement empties the batches and updates the rows, so each entry is added once. An empty batch stays
-- for an hour: one whose response was lost is sent again, and must not be stored again. A concurrent
-- aggregation locks the same batches in the same order: it waits at the first of them, and finds them empty.
-- Every batch that was journaled before an aggregation began is therefore in the rows when it ends. Rows are
-- written in the order of their primary key, so that concurrent aggregations do not deadlock.
WITH queue AS MATERIALIZED (
  SELECT id, sum(size) OVER (ORDER BY written_at, id) - size AS entries_before
  FROM usage_batches
  WHERE
    size > 0
    AND ($2::boolean OR written_at < date_trunc('minute', statement_timestamp(), 'UTC'))
),
batch AS MATERIALIZED (
  SELECT batch.id, batch.entries
  FROM usage_batches AS batch JOIN queue USING (id)
  WHERE queue.entries_before < $1::int AND batch.size > 0
  ORDER BY batch.written_at, batch.id
  FOR UPDATE OF batch
),
emptied AS (
  UPDATE usage_batches SET size = 0, entries = '[]' FROM batch WHERE usage_batches.id = batch.id
),
aggregated AS (
  INSERT INTO usage AS stored (
    key_id, period, starts_at, operation, deprecated,
    quota_id, succeeded, redirected, client_errors, server_errors, denied, last_request_at
  )
  SELECT
    "keyId",
    period,
    to_timestamp(floor(minute / length::float8) * length * 60) AS starts_at,
    operation,
    deprecated,
    -- A key has one quota. If that was changed by hand, there is still one row for each key, as ON CONFLICT
    -- requires.
    min("quotaId"::text)::uuid,
    sum(succeeded),
    sum(redirected),
    sum("clientErrors"),
    sum("serverErrors"),
    sum(coalesce(denied, refusals)),
    to_timestamp(max(coalesce("lastRequestAtMs", "lastAtMs")) / 1000::float8)
  FROM
    batch,
    json_to_recordset(entries) AS entry (
      "keyId" uuid, "quotaId" uuid, minute int, operation text, deprecated boolean,
      succeeded int, redirected int, "clientErrors" int, "serverErrors" int, denied int,
      "lastRequestAtMs" bigint,
      -- As a replica of an earlier version writes them when it is stopped after the migration.
      refusals int, "lastAtMs" bigint
    ),
    (VALUES ('minute', 1), ('hour', 60), ('day', 24 * 60)) AS lengths (period, length)
  GROUP BY 1, 2, 3, 4, 5
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (key_id, period, starts_at, operation, deprecated) DO UPDATE SET
    succeeded = stored.succeeded + EXCLUDED.succeeded,
    redirected = stored.redirected + EXCLUDED.redirected,
    client_errors = stored.client_errors + EXCLUDED.client_errors,
    server_errors = stored.server_errors + EXCLUDED.server_errors,
    denied = stored.denied + EXCLUDED.denied,
    last_request_at = greatest(stored.last_request_at, EXCLUDED.last_request_at)
)
SELECT EXISTS (SELECT FROM queue WHERE entries_before >= $1::int) AS more
