-- The operations that are removed within 30 days, and the number of keys that called each in the last seven UTC days, today included.
--
-- $1 the deprecated operations, $2 their removals, $3 now.
SELECT
  operation,
  removal,
  (
    SELECT count(DISTINCT key_id)::int
    FROM usage
    WHERE
      period = 'day' AND deprecated AND usage.operation = declared.operation
      AND starts_at >= date_trunc('day', $3::timestamptz, 'UTC') - make_interval(hours => 6 * 24)
  )
FROM unnest($1::text[], $2::timestamptz[]) AS declared (operation, removal)
WHERE removal > $3 AND removal <= $3 + make_interval(hours => 30 * 24)
