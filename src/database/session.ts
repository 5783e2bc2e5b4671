import type pg from 'pg';

const SETTINGS = {
  default_transaction_isolation: 'read committed',
  // Prisma's adapter sends dates without an offset, and takes those of results as UTC.
  timezone: 'UTC',
};
const TIMEOUT_MS = 2000;

/**
 * Sets read committed as the isolation of a new connection's transactions, UTC as its time zone, and further settings; nothing behind a
 * pooler, which lends the session to others. A standby is rejected: it may lack what was just written, and would be read until the
 * connection ends.
 *
 * @returns whether the connection is direct: its server process is the one that it was opened to.
 * @throws the driver's error; of a standby, one with the SQLSTATE 55000.
 */
export async function configureSession(
  client: pg.ClientBase,
  settings: Record<string, string> = {},
): Promise<boolean> {
  const all = { ...SETTINGS, ...settings };
  // The message BackendKeyData (PostgreSQL, "Message Formats") sets it; the types of pg lack it.
  const { processID } = client as pg.ClientBase & { processID: number | null };
  const query = {
    // The last function fails on a standby.
    text: `SELECT set_config(name, setting, false), pg_current_wal_lsn() FROM unnest($1::text[], $2::text[]) AS given (name, setting)
      WHERE pg_backend_pid() = $3`,
    values: [Object.keys(all), Object.values(all), processID],
    query_timeout: TIMEOUT_MS,
  };
  return (await client.query(query)).rowCount !== 0;
}

/** `configureSession` as the option `onConnect` of a pool, which waits for it, though its type does not show that. */
export const configureOnConnect = configureSession as (client: pg.ClientBase) => void;
