-- Removes what is kept long enough: periods that were over so many hours ago. Rows that somebody is writing are skipped, not
-- waited for, so that the sweep can never be part of a deadlock. A row that was written between its being seen and its
-- being locked stays until the next sweep.
--
-- One row comes back for each that is removed.
--
-- $1 the period, $2 for how many hours it is kept, $3 as $3 of journal-usage.sql, $4 how many rows at the most.
DELETE FROM usage
WHERE ctid = ANY (ARRAY(
  SELECT ctid
  FROM usage
  WHERE
    period = $1::usage_period
    AND starts_at < date_trunc(
      $1::text,
      statement_timestamp() + make_interval(secs => $3::float8 / 1000, hours => -$2::int),
      'UTC'
    )
  LIMIT $4
  FOR UPDATE SKIP LOCKED
))
RETURNING 1
