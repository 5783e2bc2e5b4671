import pg from 'pg';
import { configuration, type SessionSetting, sessionSettings } from '../../../prisma/session-settings.mjs';

const TIMEOUT_MS = 2000;
/** The SQLSTATE of a write to a read-only server. */
const READ_ONLY = '25006';

const { DATE, INT8, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;

// Otherwise the driver writes dates in the time zone of this process, before 1900 wrong by seconds.
pg.defaults.parseInputDatesAsUTC = true;

/** The driver's own parser returns null for a date in another style: a ban would be read as none. */
function parseTime(text: string): Date | number {
  const time = (pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number | null)(text);
  if (time === null || Number.isNaN(Number(time))) {
    throw new RangeError(`The database sent a time that cannot be read: ${text}`);
  }
  return time;
}

const parsers = new Map<number, (text: string) => unknown>([
  [DATE, (text) => parseTime(`${text} 00:00:00+00`)],
  [INT8, BigInt],
  [TIMESTAMP, parseTime],
  [TIMESTAMPTZ, parseTime],
]);

/** How the driver reads values that it would lose, or take for local time. Prisma brings its own parsers. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) => parsers.get(type) ?? pg.types.getTypeParser(type, format),
};

/**
 * Sets what statements and parsers rely on (`sessionSettings`), and further settings, which poolers would
 * refuse in the startup message; nothing behind a pooler, which lends the session to others. A standby is
 * rejected: it may lack what was just written, and would be read until the connection ends.
 *
 * @returns whether the connection is direct: its server process is the one that it was opened to.
 * @throws the driver's error; of a standby, one with the SQLSTATE 25006.
 */
export async function configureSession(
  client: pg.ClientBase,
  connectionString: string | undefined,
  ...further: SessionSetting[]
): Promise<boolean> {
  const names = new Set(further.map(({ name }) => name));
  const settings = sessionSettings(connectionString).filter(({ name }) => !names.has(name));
  const query = {
    // Some providers withhold other functions by which a standby could be known.
    ...configuration(client, [...settings, ...further], 'pg_is_in_recovery() AS "isStandby"'),
    query_timeout: TIMEOUT_MS,
  };
  const { rows } = await client.query<{ isStandby: boolean }>(query);
  if (rows.some(({ isStandby }) => isStandby)) {
    throw Object.assign(new Error('the server is a standby, which is read-only'), { code: READ_ONLY });
  }
  return rows.length > 0;
}

/**
 * Returns `configureSession` as the option `onConnect` of a pool, which waits for it, though its type does
 * not show that.
 */
export const configureOnConnect = (connectionString: string | undefined, ...further: SessionSetting[]) =>
  ((client) => configureSession(client, connectionString, ...further)) as (client: pg.ClientBase) => void;
