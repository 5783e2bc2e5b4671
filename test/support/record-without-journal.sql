-- As the release before the journal writes usage: it may run beside this one while replicas are replaced.
--
-- $1 the recorder, $2 the batch's number, which grows, $3 its entries as JSON (see usage-counts.ts), $4 milliseconds to add to the
-- server's clock (0 in production; tests travel in time with it).
--
-- A batch may be tried again while its first attempt, of which the recorder has lost sight, is still under way here. They
-- meet at the recorder's row: the second waits for the first, finds its number taken, and adds nothing.
--
-- Rows are written in the order of their primary key, so that two recorders never wait for each other in a circle.
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
  -- A key has one quota; but whatever somebody does to it by hand, one row comes out, as ON CONFLICT needs.
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
