import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { OUT } from './ledger.js';

/** The query for each table that the verifier reads. `pg` returns a bigint as decimal text. */
const QUERIES: Record<string, string> = {
  pets: 'SELECT * FROM pets ORDER BY id',
  orders: 'SELECT * FROM orders ORDER BY id',
  stored_responses: `SELECT
      quota_id, idempotency_key AS key, encode(fingerprint, 'hex') AS fingerprint, body, location, stored_at
    FROM stored_responses ORDER BY quota_id, key`,
  keys: `SELECT id, quota_id, name, role, created_at, expires_at, revoked_at, predecessor_id
    FROM api_keys ORDER BY id`,
  failed_requests: `SELECT request_id, requested_at, status, code FROM failed_requests
    ORDER BY requested_at, id`,
};
const ROWS_AT_ONCE = 10_000;

/** Writes the tables at the end of a run, one row a line. */
export async function dumpTables(databaseUrl: string): Promise<void> {
  const folder = path.join(OUT, 'tables');
  mkdirSync(folder, { recursive: true });
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const [table, query] of Object.entries(QUERIES)) {
      const file = path.join(folder, `${table}.jsonl`);
      writeFileSync(file, '');
      await client.query(`DECLARE ${table}_rows CURSOR FOR ${query}`);
      let rows: unknown[];
      do {
        ({ rows } = await client.query<object>(`FETCH ${ROWS_AT_ONCE} FROM ${table}_rows`));
        appendFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      } while (rows.length > 0);
    }
  } finally {
    await client.end();
  }
}
