-- The animals of many requests: $1 their identifiers.
SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1::bigint[])
