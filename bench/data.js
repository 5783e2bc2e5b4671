import pg from 'pg';
import { generateApiKey, hashApiKey, keyHints } from '../dist/auth/api-key.js';
import { applyPendingMigrations } from '../dist/database/migrations.js';

export const ANIMALS = 100_000;
export const KEYS = 10_000;
/** Of each key in a minute and in a day: never reached. */
const LIMIT = 1_000_000_000;
const TEMPLATE = 'bench_template';

const ADD_ANIMALS = `
  INSERT INTO pets (name, category_id, status)
  SELECT
    'Animal ' || number,
    number % 50 + 1,
    (ARRAY['available', 'available', 'pending', 'sold', NULL])[number % 5 + 1]::pet_status
  FROM generate_series(1, $1::int) AS number`;

const ADD_KEYS = `
  WITH key AS (
    SELECT *, gen_random_uuid() AS quota_id
    FROM unnest($1::bytea[], $2::text[], $3::text[]) AS given (hash, prefix, last_four)
  ),
  quota AS (
    INSERT INTO quotas (id, plan, per_minute, per_day) SELECT quota_id, 'enterprise', $4, $4 FROM key
  )
  INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
  SELECT gen_random_uuid(), quota_id, 'bench', hash, prefix, last_four FROM key`;

/**
 * Makes a database for each contestant, all alike.
 *
 * @param {string} serverUrl of a database on the server.
 * @param {string[]} names of the contestants.
 * @returns the keys that are let in, and the address of each database.
 */
export async function prepareData(serverUrl, names, { animals = ANIMALS, keys: keyCount = KEYS } = {}) {
  const keys = Array.from({ length: keyCount }, () => generateApiKey('production'));
  const urlOf = (name) => Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await server.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${TEMPLATE}`);
    await fill(urlOf(TEMPLATE), animals, keys);
    const urls = {};
    for (const name of names) {
      const database = `bench_${name.replaceAll('-', '_')}`;
      await server.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      await server.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE}`);
      urls[name] = urlOf(database);
    }
    return { keys, urls };
  } finally {
    await server.end();
  }
}

async function fill(url, animals, keys) {
  await applyPendingMigrations(url);
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    await database.query(ADD_ANIMALS, [animals]);
    await database.query(`INSERT INTO plans (name) VALUES ('enterprise')`);
    const hints = keys.map(keyHints);
    await database.query(ADD_KEYS, [
      keys.map(hashApiKey),
      hints.map(({ prefix }) => prefix),
      hints.map(({ lastFour }) => lastFour),
      LIMIT,
    ]);
    await database.query('VACUUM (ANALYZE)');
  } finally {
    await database.end();
  }
}

/** Writes back what the databases have in memory, so that nobody's turn pays for the one before. */
export async function checkpoint(url) {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    await database.query('CHECKPOINT');
  } finally {
    await database.end();
  }
}
