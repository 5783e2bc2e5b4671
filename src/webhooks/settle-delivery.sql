-- Ends the lease of a delivery by the outcome of its attempt. Changes nothing if the lease is no longer that of the attempt; or if the
-- endpoint was disabled meanwhile, unless the delivery succeeded.
--
-- $1 the delivery, $2 the end of the lease, $3 the new state, $4 why the attempt failed or NULL, $5 the number of attempts, $6 the
-- milliseconds until the next one, $7 milliseconds to add to the server's clock.
UPDATE webhook_deliveries
SET
  state = $3::webhook_delivery_state,
  last_failure = $4,
  attempts = $5::int,
  next_attempt_at = CASE
    WHEN $3 = 'pending' THEN statement_timestamp() + make_interval(secs => ($6::float8 + $7::float8) / 1000)
  END,
  leased_until = NULL
WHERE id = $1::uuid AND leased_until = $2::timestamptz AND (state = 'pending' OR $3 = 'delivered')
