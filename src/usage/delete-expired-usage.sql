-- Deletes rows of periods that ended longer ago than they are kept, and returns one row for each. Locked rows are skipped, so that this
-- statement takes part in no deadlock. A row that is updated between its selection and its lock stays until the next cleanup.
--
-- $1 the maximum number of rows, $2 milliseconds to add to the server's clock, $3 the period, $4 the hours for which it is kept.
DELETE FROM usage
WHERE ctid = ANY (ARRAY(
  SELECT ctid
  FROM usage
  WHERE
    period = $3::usage_period
    AND starts_at < date_trunc(
      $3::text,
      statement_timestamp() + make_interval(secs => $2::float8 / 1000, hours => -$4::int),
      'UTC'
    )
  LIMIT $1
  FOR UPDATE SKIP LOCKED
))
RETURNING 1
