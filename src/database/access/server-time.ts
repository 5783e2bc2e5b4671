import type { Database } from './in-transaction.js';

/**
 * Returns the time of the database, in milliseconds since the Unix epoch: replicas whose clocks differ agree
 * on it.
 */
export async function readServerTimeMs(database: Database): Promise<number> {
  const rows = await database.$queryRaw<[{ now: Date }]>`SELECT statement_timestamp() AS now`;
  return rows[0].now.getTime();
}
