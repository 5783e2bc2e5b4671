-- Appends one batch to the journal. A repeated append of the same batch does nothing, even after it was aggregated.
--
-- $1 the recorder, $2 the batch's number, which grows, $3 milliseconds to add to the server's clock (0 in production; tests travel in
-- time with it), $4 to $14 its entries, one array for each column, as arrays cost less to parse than JSON.
--
-- A recorder may retry a batch while its first attempt still runs here. Both then lock the recorder's row: the second waits for the
-- first, finds that its number is not greater, and appends nothing.
WITH recorder AS (
  INSERT INTO usage_recorders AS stored (id, batch, written_at)
  VALUES ($1::uuid, $2::int, statement_timestamp() + make_interval(secs => $3::float8 / 1000))
  ON CONFLICT (id) DO UPDATE SET batch = EXCLUDED.batch, written_at = EXCLUDED.written_at
  WHERE stored.batch < EXCLUDED.batch
  RETURNING id, batch, written_at
)
INSERT INTO usage_batches (
  recorder_id, number, written_at, size,
  key_ids, quota_ids, minutes, operations, deprecated,
  succeeded, redirected, client_errors, server_errors, refusals, last_at_ms
)
SELECT
  id, batch, written_at, cardinality($4::uuid[]),
  $4, $5::uuid[], $6::int[], $7::text[], $8::boolean[],
  $9::int[], $10::int[], $11::int[], $12::int[], $13::int[], $14::bigint[]
FROM recorder
