-- Leases the delivery that has been due the longest, and returns what its request needs; no row if none is due.
--
-- $1 milliseconds to add to the server's clock (0 in production), $2 the lease in milliseconds, $3 endpoints that get no further request
-- for now. A lease keeps other replicas away during the request without a transaction that stays open; after a crash it ends, and the
-- delivery is due again. SKIP LOCKED keeps concurrent claims from waiting for each other.
WITH clock AS MATERIALIZED (
  SELECT statement_timestamp() + make_interval(secs => $1::float8 / 1000) AS now
),
due AS MATERIALIZED (
  SELECT delivery.id
  FROM webhook_deliveries AS delivery, clock
  WHERE
    delivery.state = 'pending'
    AND delivery.next_attempt_at <= clock.now
    AND coalesce(delivery.leased_until <= clock.now, true)
    AND delivery.endpoint_id <> ALL ($3::uuid[])
  ORDER BY delivery.next_attempt_at
  LIMIT 1
  FOR UPDATE OF delivery SKIP LOCKED
)
UPDATE webhook_deliveries AS delivery
SET
  attempts = delivery.attempts + 1,
  last_attempt_at = clock.now,
  leased_until = clock.now + make_interval(secs => $2::float8 / 1000)
FROM due, clock, webhook_endpoints AS endpoint
WHERE delivery.id = due.id AND endpoint.id = delivery.endpoint_id
RETURNING json_build_object(
  'id', delivery.id,
  'endpointId', endpoint.id,
  'url', endpoint.url,
  'secrets', array_remove(ARRAY[
    endpoint.secret, CASE WHEN endpoint.previous_secret_ends_at > clock.now THEN endpoint.previous_secret END
  ], NULL),
  'body', delivery.payload::text,
  'attempts', delivery.attempts,
  'attemptedAt', delivery.last_attempt_at,
  'leasedUntil', delivery.leased_until
)
