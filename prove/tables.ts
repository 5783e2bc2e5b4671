import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import path from 'node:path';
import pg from 'pg';
import { OUT } from './ledger.js';

/** The query for each table that the verifier reads. `pg` returns a bigint as decimal text. */
const QUERIES: Record<string, string> = {
  pets: 'SELECT * FROM pets ORDER BY id',
  orders: 'SELECT * FROM orders ORDER BY id',
  stored_responses: `SELECT quota_id, key, encode(fingerprint, 'hex') AS fingerprint, body, location, stored_at
    FROM stored_responses ORDER BY quota_id, key`,
  keys: `SELECT id, quota_id, name, role, created_at, expires_at, revoked_at, predecessor_id
    FROM api_keys ORDER BY id`,
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
      await dumpRows(client, query, path.join(folder, `${table}.jsonl`));
    }
  } finally {
    await client.end();
  }
}

async function dumpRows(client: pg.Client, query: string, name: string): Promise<void> {
  const file = createWriteStream(name);
  await client.query(`DECLARE table_rows CURSOR FOR ${query}`);
  for (;;) {
    const { rows } = await client.query(`FETCH ${ROWS_AT_ONCE} FROM table_rows`);
    if (rows.length === 0) {
      break;
    }
    if (!file.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))) {
      await once(file, 'drain');
    }
  }
  await client.query('CLOSE table_rows');
  file.end();
  await finished(file);
}
