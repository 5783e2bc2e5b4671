-- Writes usage as the release before the journal does, which may run beside this one during an update.
--
-- $1 the recorder, $2 the batch's number, which grows, $3 its entries as JSON (see usage-counts.ts), $4 milliseconds to add to the
-- server's clock (0 in production; tests set it).
--
-- A batch may be retried while its first attempt is still in flight here. The second attempt waits for the first at the recorder's
-- row, finds its number there, and adds nothing.
--
-- Rows are written in the order of their primary key, so that two recorders never deadlock.
WITH recorder AS (
  INSERT INTO usage_recorders AS stored (id, batch, written_at)
  VALUES ($1::uuid, $2::int, statement_timestamp() + make_interval(secs => $4::float8 / 1000))
  ON CONFLICT (id) DO UPDATE SET batch = EXCLUDED.batch, written_at = EXCLUDED.written_at
  WHERE stored.batch < EXCLUDED.batch
  RETURNING id
)
INSERT INTO usage AS stored (
  key_id, period, starts_at, operation, deprecated,
  quota_id, succeeded, redirected, client_errors, server_errors, refusals, last_at
)
SELECT
  entry."keyId",
  period,
  date_trunc(period::text, to_timestamp(entry.minute * 60.0), 'UTC') AS starts_at,
  entry.operation,
  entry.deprecated,
  -- A key has one quota; min() keeps this to one row for ON CONFLICT even if that was changed by hand.
  min(entry."quotaId"::text)::uuid,
  sum(entry.succeeded),
  sum(entry.redirected),
  sum(entry."clientErrors"),
  sum(entry."serverErrors"),
  sum(entry.refusals),
  to_timestamp(max(entry."lastAtMs") / 1000)
FROM
  recorder,
  unnest(enum_range(NULL::usage_period)) AS period,
  json_to_recordset($3::json) AS entry (
    "keyId" uuid,
    "quotaId" uuid,
    minute int,
    operation text,
    deprecated boolean,
    succeeded int,
    redirected int,
    "clientErrors" int,
    "serverErrors" int,
    refusals int,
    "lastAtMs" float8
  )
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (key_id, period, starts_at, operation, deprecated) DO UPDATE SET
  succeeded = stored.succeeded + EXCLUDED.succeeded,
  redirected = stored.redirected + EXCLUDED.redirected,
  client_errors = stored.client_errors + EXCLUDED.client_errors,
  server_errors = stored.server_errors + EXCLUDED.server_errors,
  refusals = stored.refusals + EXCLUDED.refusals,
  last_at = greatest(stored.last_at, EXCLUDED.last_at)
