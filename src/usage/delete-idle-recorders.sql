-- Deletes recorders that have written nothing for a week, which is longer than a recorder retries a batch.
--
-- $1 as $3 of journal-usage.sql.
DELETE FROM usage_recorders
WHERE id IN (
  SELECT id
  FROM usage_recorders
  WHERE written_at < statement_timestamp() + make_interval(secs => $1::float8 / 1000, days => -7)
  FOR UPDATE SKIP LOCKED
)
