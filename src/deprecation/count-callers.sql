-- The number of keys that called each of these operations since a UTC day, while it was deprecated. An operation without calls has no row.
--
-- $1 the operations, $2 the first day.
SELECT operation, count(DISTINCT key_id)::int
FROM usage
WHERE period = 'day' AND deprecated AND operation = ANY ($1::text[]) AND starts_at >= $2::timestamptz
GROUP BY operation
