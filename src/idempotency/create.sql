-- Creates records for many requests: $1 and on their columns, one array each. Returns for each request the body of its response and
-- the path of its record; no body if the request is not valid. It creates all valid records or none.
--
-- Identifiers are drawn before anything is written, in the order of the requests: the order in which INSERT returns rows
-- is not promised.
WITH request AS MATERIALIZED (
  SELECT nextval('{table}_id_seq') AS id, request.*, {is_valid} AS is_valid
  FROM unnest({arrays}) WITH ORDINALITY AS request ({columns}, number)
),
created AS (
  INSERT INTO {table} (id, {columns}) SELECT id, {columns} FROM request WHERE is_valid
)
SELECT CASE WHEN is_valid THEN {json} END, {location} FROM request ORDER BY number
