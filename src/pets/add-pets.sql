-- Adds the animals of many requests: $1 their names, $2 their categories, $3 their status or NULL. All or none.
--
-- Identifiers are drawn before anything is written, in the order of the requests: the order in which INSERT gives rows
-- back is not promised.
WITH given AS MATERIALIZED (
  SELECT nextval('pets_id_seq') AS id, asked.*
  FROM unnest($1::text[], $2::bigint[], $3::pet_status[]) WITH ORDINALITY AS asked (name, category_id, status, number)
),
added AS (
  INSERT INTO pets (id, name, category_id, status) SELECT id, name, category_id, status FROM given
)
SELECT id FROM given ORDER BY number
