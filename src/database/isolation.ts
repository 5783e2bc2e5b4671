import pg from 'pg';
import { databaseReason, isDatabaseUnavailable } from './availability.js';
import { configureSession } from './session.js';

const TIMEOUT_MS = 2000;

/** The session's role and default isolation, and the statement that makes that read committed in this database. */
const DEFAULT_ISOLATION = `
  SELECT
    current_user AS role,
    current_setting('default_transaction_isolation') AS isolation,
    format(
      'ALTER ROLE %I IN DATABASE %I SET default_transaction_isolation = ''read committed''', current_user, current_database()
    ) AS repair`;

interface DefaultIsolation {
  role: string;
  isolation: string;
  repair: string;
}

/**
 * Makes read committed the default isolation of a role behind a pooler, where the service cannot set it for its sessions.
 *
 * @returns a line on what was changed, or on why nothing could be checked; none if nothing was to do.
 * @throws the driver's error, unless the database is unavailable.
 */
export async function repairIsolation(connectionString: string): Promise<string[]> {
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
    const { rows } = await client.query<DefaultIsolation>(DEFAULT_ISOLATION);
    const { role, isolation, repair } = rows[0] as DefaultIsolation;
    if (isolation === 'read committed') {
      return [];
    }
    await client.query(repair);
    return [
      `Made read committed the default isolation of the role ${role} in this database; it was ${isolation}. ` +
        'Have the pooler connect anew (PgBouncer: RECONNECT).',
    ];
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      return [`The default isolation of the service's role was not checked: ${databaseReason(error)}`];
    }
    throw error;
  } finally {
    await client.end();
  }
}
