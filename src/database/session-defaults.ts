import pg from 'pg';
import { databaseReason, isDatabaseUnavailable } from './availability.js';
import { configureSession } from './session.js';

const TIMEOUT_MS = 2000;

/** Each default of the session's role that is wrong, and the statement that repairs it in this database. `check-database.sql` has the same. */
const WRONG_DEFAULTS = `
  SELECT
    current_user AS role,
    description,
    wanted,
    current,
    advice,
    format(
      'ALTER ROLE %I IN DATABASE %I SET %s = %L', current_user, current_database(), setting, wanted
    ) AS repair
  FROM (
    VALUES
      (
        'default_transaction_isolation', 'isolation', 'read committed',
        current_setting('default_transaction_isolation'), '^read committed$', ''
      ),
      -- PgBouncer keeps, for each connection of a client, the time zone with which it began.
      (
        'timezone', 'time zone', 'UTC', current_setting('timezone'),
        '^(Etc/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich)$', ' Then restart the replicas.'
      )
  ) AS defaults (setting, description, wanted, current, pattern, advice)
  WHERE current !~ pattern`;

interface WrongDefault {
  role: string;
  description: string;
  wanted: string;
  current: string;
  advice: string;
  repair: string;
}

/**
 * Makes read committed the default isolation, and UTC the default time zone, of a role behind a pooler, where the service cannot set them
 * for its sessions.
 *
 * @returns a line on each change, or one on why nothing could be checked; none if nothing was to do.
 * @throws the driver's error, unless the database is unavailable.
 */
export async function repairSessionDefaults(connectionString: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A connection lost between two queries is an event, which would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    if (await configureSession(client)) {
      return [];
    }
    const { rows } = await client.query<WrongDefault>(WRONG_DEFAULTS);
    for (const { repair } of rows) {
      await client.query(repair);
    }
    return rows.map(
      ({ role, description, wanted, current, advice }) =>
        `Made ${wanted} the default ${description} of the role ${role} in this database; it was ${current}. ` +
        `Have the pooler connect anew (PgBouncer: RECONNECT).${advice}`,
    );
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      return [
        `The default isolation and time zone of the service's role were not checked: ${databaseReason(error)}`,
      ];
    }
    throw error;
  } finally {
    await client.end();
  }
}
