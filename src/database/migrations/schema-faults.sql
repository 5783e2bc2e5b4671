-- Returns what the database lacks of the columns that this version uses, as predicates of "the database".
--
-- $1 JSON of these columns. A column of another type is a fault too, and so is one without which an INSERT of
-- this version fails.
WITH needed AS MATERIALIZED (
  SELECT to_regclass(quote_ident(relation)) AS relation_id, to_regtype(type) AS type_id, given.*
  FROM json_to_recordset($1::json) AS given (relation text, name text, type text, "mayBeNull" boolean)
),
present AS MATERIALIZED (
  SELECT attrelid, attname, atttypid, attnotnull, atthasdef OR attidentity <> '' AS has_default
  FROM pg_attribute
  WHERE attrelid IN (SELECT relation_id FROM needed) AND attnum > 0 AND NOT attisdropped
)
SELECT fault FROM (
  SELECT DISTINCT format('lacks the table %s', relation) AS fault FROM needed WHERE relation_id IS NULL
  UNION ALL
  SELECT CASE
    WHEN attname IS NULL THEN format('lacks the column %s.%s', relation, name)
    WHEN atttypid IS DISTINCT FROM type_id
      THEN format('has %s instead of %s in the column %s.%s', atttypid::regtype, type, relation, name)
    ELSE format('accepts no NULL in the column %s.%s', relation, name)
  END
  FROM needed LEFT JOIN present ON attrelid = relation_id AND attname = name
  WHERE
    relation_id IS NOT NULL
    AND (attname IS NULL OR atttypid IS DISTINCT FROM type_id OR attnotnull AND "mayBeNull")
  UNION ALL
  SELECT format(
    'requires a value in the column %s.%s, which this version does not have', attrelid::regclass, attname
  )
  FROM present
  WHERE
    attnotnull AND NOT has_default
    AND NOT EXISTS (SELECT FROM needed WHERE relation_id = attrelid AND name = attname)
) AS found (fault)
-- What is missing comes first.
ORDER BY fault !~ '^lacks', fault
