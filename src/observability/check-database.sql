-- Returns one row of text for each fault in the privileges and session settings of the service's roles.
--
-- $1 JSON of roles, NULL for the role of this session, with the relation that each uses and the privileges
-- that it needs, separated by ", "; $2 the service's sequences, $3 to $5 the columns of `sessionSettings`.
-- Relations and roles that do not exist are ignored: migrations create relations, and a role may exist in a
-- pooler only.
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
  'permission denied for schema %1$s: run "GRANT USAGE ON SCHEMA %1$s TO %2$I"',
  relnamespace::regnamespace, role
) AS fault
FROM needed, pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE
  relname = '_prisma_migrations'
  -- Another schema may have a store of its own.
  AND nspname IN (
    SELECT CASE part WHEN '"$user"' THEN current_user ELSE btrim(part, '"') END
    FROM regexp_split_to_table(current_setting('search_path'), ', *') AS part
  )
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
  '%s is %s by default, and must be %s: run "ALTER ROLE %I IN DATABASE %I SET %s = %s", '
  'have the pooler connect anew, and restart the service',
  name, current_setting(name), value, session_user, current_database(), name,
  -- A quoted text would be one name.
  CASE WHEN name = 'search_path' THEN value ELSE quote_literal(value) END
)
FROM unnest($3::text[], $4::text[], $5::text[]) AS setting (name, value, accepted)
WHERE current_setting(name) !~ accepted
