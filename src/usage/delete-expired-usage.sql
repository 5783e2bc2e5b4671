-- Deletes rows of periods that ended longer ago than they are kept, and returns one row for each. Locked rows are skipped, so that this
-- statement takes part in no deadlock. A row that is updated between its selection and its lock stays until the next cleanup.
--
-- $1 the period, $2 the hours for which it is kept, $3 milliseconds to add to the server's clock, $4 the maximum number of rows.
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
