import { until } from '../eventually.js';
import type { TestDatabase } from './database.js';

/**
 * Returns how many rows of a table PostgreSQL has read so far. Waits until the service has closed its
 * connections, because PostgreSQL updates the statistics of a connection when that ends.
 */
export async function rowsRead(
  database: TestDatabase,
  table: 'api_keys' | 'orders' | 'pets' | 'quotas' | 'usage',
): Promise<{ scanned: number; byIndex: number }> {
  const connections = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'animal-store%'`;
  await until(async () => (await database.query(connections)).length === 0);
  const [row] = await database.query<{ scanned: number; byIndex: number }>(
    `SELECT t.seq_tup_read::int AS scanned, sum(i.idx_tup_read)::int AS "byIndex"
     FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
     WHERE t.relname = '${table}' GROUP BY 1`,
  );
  return row ?? { scanned: NaN, byIndex: NaN };
}
