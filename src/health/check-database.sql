-- Returns one row of text for each fault in the privileges and session settings of the service's roles.
--
-- $1 JSON of roles, NULL for the role of this session, with the relation that each uses and the privileges that it needs, separated by ", ";
-- $2 the service's sequences. Relations and roles that do not exist are ignored: migrations create relations, and a role may exist in
-- a pooler only.
WITH needed AS (
  SELECT roles.oid AS role_id, roles.rolname AS role, relation, privileges
  FROM json_to_recordset($1::json) AS given (role text, relation text, privileges text)
  JOIN pg_roles AS roles ON roles.rolname = coalesce(given.role, current_user)
),
missing AS (
  SELECT role, '' AS kind, relation, string_agg(privilege, ', ') AS privileges
  FROM needed, regexp_split_to_table(privileges, ', ') AS privilege
  WHERE NOT has_table_privilege(role_id, to_regclass(relation), privilege)
  GROUP BY role, relation
  UNION ALL
  SELECT current_user, 'SEQUENCE ', relation, 'USAGE'
  FROM unnest($2::text[]) AS relation
  -- Either privilege allows nextval().
  WHERE NOT has_sequence_privilege(to_regclass(relation), 'USAGE, UPDATE')
)
SELECT DISTINCT format(
  'permission denied for schema %1$s: run "GRANT USAGE ON SCHEMA %1$s TO %2$I"', relnamespace::regnamespace, role
)
FROM needed, pg_class
WHERE
  relname = '_prisma_migrations'
  -- Without USAGE on the schema, to_regclass() returns NULL and every table seems to be missing.
  AND coalesce(pg_class.oid = to_regclass('_prisma_migrations'), true)
  AND NOT has_schema_privilege(role_id, relnamespace, 'USAGE')
UNION ALL
SELECT format(
  'permission denied for %1$s: run "GRANT %2$s ON %3$s%1$s TO %4$I"',
  string_agg(relation, ', ' ORDER BY relation), privileges, kind, role
)
FROM missing
GROUP BY role, kind, privileges
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
