-- Returns one row of text for each fault in the privileges and session settings of the service's role.
--
-- $1 the relations that it uses, $2 the privileges that each needs, separated by ", ", $3 the service's sequences. Relations that do not
-- exist are ignored, because migrations create them.
WITH missing AS (
  SELECT '' AS kind, relation, string_agg(privilege, ', ') AS privileges
  FROM unnest($1::text[], $2::text[]) AS needed (relation, needs), regexp_split_to_table(needs, ', ') AS privilege
  WHERE NOT has_table_privilege(to_regclass(relation), privilege)
  GROUP BY relation
  UNION ALL
  SELECT 'SEQUENCE ', relation, 'USAGE'
  FROM unnest($3::text[]) AS relation
  -- Either privilege allows nextval().
  WHERE NOT has_sequence_privilege(to_regclass(relation), 'USAGE, UPDATE')
)
SELECT format(
  'permission denied for schema %1$s: run "GRANT USAGE ON SCHEMA %1$s TO %2$I"', relnamespace::regnamespace, current_user
)
FROM pg_class
WHERE
  relname = '_prisma_migrations'
  -- Without USAGE on the schema, to_regclass() returns NULL and every table seems to be missing.
  AND coalesce(pg_class.oid = to_regclass('_prisma_migrations'), true)
  AND NOT has_schema_privilege(relnamespace, 'USAGE')
UNION ALL
SELECT format(
  'permission denied for %1$s: run "GRANT %2$s ON %3$s%1$s TO %4$I"',
  string_agg(relation, ', ' ORDER BY relation), privileges, kind, current_user
)
FROM missing
GROUP BY kind, privileges
UNION ALL
SELECT format(
  'transactions are %s by default, and must be read committed: run "ALTER ROLE %I IN DATABASE %I SET '
  'default_transaction_isolation = ''read committed''", and have the pooler connect anew',
  current_setting('transaction_isolation'), current_user, current_database()
)
WHERE current_setting('transaction_isolation') <> 'read committed'
UNION ALL
SELECT format(
  'the time zone is %s by default, and must be UTC: run "ALTER ROLE %I IN DATABASE %I SET timezone = ''UTC''", have the pooler '
  'connect anew, and restart the service',
  current_setting('timezone'), current_user, current_database()
)
-- All names of UTC, because the default of a server is often Etc/UTC.
WHERE current_setting('timezone') !~ '^(Etc/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich)$'
