// What a session of PostgreSQL must be like: for the service, and for the schema engine, which runs without a
// build.

import { schemaOf } from './database-address.mjs';

/** The `value` is set where a session has one that the regular expression `accepted` does not match. */
const SETTINGS = [
  // Otherwise a null in an array of parameters is the text "NULL".
  { name: 'array_nulls', value: 'on', accepted: '^on$' },
  // The driver reads no other dates.
  { name: 'datestyle', value: 'ISO, MDY', accepted: '^ISO' },
  // Statements that wait for a row's lock go on with what was committed meanwhile.
  { name: 'default_transaction_isolation', value: 'read committed', accepted: '^read committed$' },
  // A negative number rounds the times that statements return.
  { name: 'extra_float_digits', value: '1', accepted: '^[0-3]$' },
  // Triggers notify replicas of revoked keys, and check foreign keys.
  { name: 'session_replication_role', value: 'origin', accepted: '^(origin|local)$' },
  // What was created survives a crash.
  { name: 'synchronous_commit', value: 'on', accepted: '^(on|local|remote_write|remote_apply)$' },
  // Prisma's adapter sends dates without an offset, and takes those of results as UTC. A server's default is
  // often Etc/UTC.
  { name: 'timezone', value: 'UTC', accepted: '^(Etc/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich)$' },
];

/** The SQLSTATE of PostgreSQL for it. */
const INVALID_SCHEMA_NAME = '3F000';

/** The encoding cannot be set in a session. One row and column with the fault and what to do, or no row. */
export const ENCODING_FAULT = `SELECT format(
    'the database %1$I stores text as %2$s, and must as UTF8: '
    'run "CREATE DATABASE %3$I ENCODING ''UTF8'' LOCALE ''C'' TEMPLATE template0", '
    'and name that one in DATABASE_URL',
    current_database(), current_setting('server_encoding'), current_database() || '_utf8'
  ) AS fault
  WHERE current_setting('server_encoding') <> 'UTF8'`;

export async function findSchema(pool, connectionString) {
  const named = schemaOf(connectionString);
  if (named !== null) {
    return named;
  }
  const { rows } = await pool.query(
    "SELECT current_schema() AS schema, current_setting('search_path') AS path",
  );
  const [{ schema, path }] = rows;
  if (schema === null) {
    const fault = `no schema of search_path (${path}) exists for this role: create it, or change search_path`;
    throw Object.assign(new Error(fault), { code: INVALID_SCHEMA_NAME });
  }
  return schema;
}

export function sessionSettings(connectionString) {
  const schema = schemaOf(connectionString);
  if (schema === null) {
    return SETTINGS;
  }
  const value = `"${schema.replaceAll('"', '""')}"`;
  const pattern = schema.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&');
  return [...SETTINGS, { name: 'search_path', value, accepted: `^("${pattern}"|${pattern})(,|$)` }];
}

export function settingColumns(settings) {
  return ['name', 'value', 'accepted'].map((column) => settings.map((setting) => setting[column]));
}

export function configuration({ processID }, settings, expression = 'NULL') {
  return {
    text: `SELECT
        CASE WHEN current_setting(name, true) !~ accepted THEN set_config(name, value, false) END,
        ${expression}
      FROM unnest($1::text[], $2::text[], $3::text[]) AS setting (name, value, accepted)
      WHERE pg_backend_pid() = $4`,
    values: [...settingColumns(settings), processID],
  };
}
