import pg from 'pg';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The key of the advisory lock in the database `postgres`: two arbitrary numbers that never change. */
const LOCK = [1_634_627_937, 1];
const LOCK_NOT_AVAILABLE = '55P03';
/** PostgreSQL releases the lock of a killed owner once it notices the closed connection, which takes a moment. */
const LOCK_TIMEOUT_MS = 1000;
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Marks this process as the owner of a server: returns a connection with an advisory lock, which ends with the connection.
 *
 * @throws EmbeddedPostgresError if another process holds it; the error of the connection if that fails.
 */
export async function lockServer(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `animal-store owner, process ${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
  });
  // A lost connection is reported by 'end'.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1, $2)', LOCK);
    return client;
  } catch (error) {
    const isHeld = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
    const reason = isHeld ? new EmbeddedPostgresError(await describeHolder(client)) : error;
    await client.end().catch(() => undefined);
    throw reason;
  }
}

async function describeHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT current_setting('data_directory') AS folder, substring(max(application_name) FROM 'process.*') AS holder
       FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted`,
    LOCK,
  );
  const { folder, holder } = rows[0];
  return (
    `The embedded PostgreSQL in ${folder} is in use by another animal-store process (${holder ?? 'just ended'}). ` +
    `Stop it, or set DATA_DIR or DATABASE_URL.`
  );
}
