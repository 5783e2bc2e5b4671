import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sqlOfTestTime } from '../time/test-time.js';

export interface TestDatabase {
  url: string;
  /** Runs one statement, as an operator would. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Makes it take its time from this test file, in sessions that begin later. */
  followTestTime(): Promise<unknown>;
  drop(): Promise<void>;
}

/**
 * Creates a database with all migrations and the built-in plans, or an empty one.
 *
 * @param locale of an empty database, such as `LOCALE_PROVIDER libc LOCALE 'C'`.
 */
export async function createDatabase(
  template: 'template_store' | 'template0' = 'template_store',
  locale = '',
): Promise<TestDatabase> {
  const serverUrl = process.env['TEST_DATABASE_URL'];
  if (serverUrl === undefined) {
    throw new Error('TEST_DATABASE_URL is not set: the global setup did not run');
  }
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  // A busy machine may need longer than two seconds. A database behind a proxy has the timeout of production.
  url.searchParams.set('connect_timeout', '5');
  // The default strategy writes each page to the log, which takes twice as long.
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} ${locale} STRATEGY FILE_COPY`);
  const pool = new pg.Pool({ connectionString: url.href, max: 2 });
  // A test may end connections on purpose; the next statement opens another.
  pool.on('error', () => {});
  let following: Promise<unknown> | null = null;
  return {
    url: url.href,
    query: async (text, values) => (await pool.query(text, values)).rows,
    followTestTime: () => (following ??= pool.query(sqlOfTestTime())),
    drop: async () => {
      await pool.end();
      await query(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  // A connection that a fault ends emits an event, and its query is rejected too.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
