-- Starts an attempt of deliveries that are due, a few for each webhook that is not paused and whose receiver
-- does not want to wait, and returns what their requests need.
--
-- $1 webhooks that get no delivery now, $2 the maximum for every other webhook, $3 the seconds from each
-- attempt to the next, $4 the seconds from the first attempt to the last, $5 the type of events with one
-- attempt. The next attempt is planned before this one, so it follows even a crash, and other replicas keep
-- away meanwhile without a transaction that stays open. A fifth of the wait is random, so that deliveries
-- that failed together are not repeated together. SKIP LOCKED keeps concurrent claims from waiting for each
-- other, and from claiming the same rows.
WITH clock AS MATERIALIZED (
  SELECT statement_timestamp() AS now
),
due AS MATERIALIZED (
  SELECT
    delivery.id, webhook.url, delivery.last_at, event_type = $5 OR now >= delivery.last_at AS is_last,
    array_remove(ARRAY[
      webhook.secret, CASE WHEN webhook.previous_secret_expires_at > now THEN webhook.previous_secret END
    ], NULL) AS secrets
  FROM clock, webhooks AS webhook, LATERAL (
    SELECT
      id, event_type,
      CASE WHEN attempts = 0 THEN now ELSE coalesce(first_attempt_at, now) END
        + make_interval(secs => $4::float8) AS last_at
    FROM webhook_deliveries
    WHERE
      webhook_id = webhook.id AND state = 'pending' AND next_attempt_at <= now
      AND CASE WHEN event_type = $5 THEN attempts = 0 ELSE coalesce(retry_after_at <= now, true) END
    ORDER BY next_attempt_at
    LIMIT $2::int
    FOR UPDATE SKIP LOCKED
  ) AS delivery
  WHERE paused_at IS NULL AND webhook.id <> ALL ($1::uuid[])
)
UPDATE webhook_deliveries AS delivery
SET
  attempts = attempts + 1,
  first_attempt_at = last_at - make_interval(secs => $4::float8),
  last_attempt_at = now,
  next_attempt_at = greatest(
    -- Not during this attempt, even if its last one is due soon.
    now + make_interval(secs => ($3::float8[])[1] * 0.8),
    least(
      last_at,
      now + make_interval(
        secs => ($3::float8[])[least(attempts + 1, cardinality($3::float8[]))] * (1 - 0.2 * random())
      )
    )
  )
FROM due, clock
WHERE delivery.id = due.id
RETURNING json_build_object(
  'id', delivery.id, 'eventId', event_id, 'webhookId', webhook_id, 'url', url, 'secrets', secrets,
  'body', payload::text, 'isTest', event_type = $5, 'isLast', is_last, 'attemptedAt', last_attempt_at,
  'firstAttemptAt', first_attempt_at, 'nextAttemptAt', next_attempt_at, 'lastAt', last_at
) AS delivery
