import pg from 'pg';
import { generateApiKey, hashApiKey, keyHints } from '../dist/auth/rules/api-key.js';
import { applyPendingMigrations } from '../dist/database/migrations.js';

export const ANIMALS = 100_000;
/** The keys of requests, at random. */
const LOAD_KEYS = 1000;
/** Requests a minute of the keys that the check of exactness uses. */
export const EXACT_LIMIT = 300;
/** Requests a minute and a day of the keys under load; never reached. */
const LIMIT = 1_000_000_000;
/** One for each case of a set. */
const EXACT_KEYS = 7;
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
 * Creates the database that every contestant gets a copy of.
 *
 * @param {string} serverUrl of any database on the server.
 * @returns the keys for load, and those with a limit of EXACT_LIMIT.
 */
export async function createTemplate(serverUrl) {
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${TEMPLATE}`);
  });
  const url = databaseUrl(serverUrl, TEMPLATE);
  await applyPendingMigrations(url);
  return withDatabase(url, async (database) => {
    await database.query(ADD_ANIMALS, [ANIMALS]);
    await database.query(`INSERT INTO plans (name) VALUES ('enterprise')`);
    const addKeys = async (count, limit) => {
      const keys = Array.from({ length: count }, () => generateApiKey('production'));
      const hints = keys.map(keyHints);
      const columns = [hints.map(({ prefix }) => prefix), hints.map(({ lastFour }) => lastFour)];
      await database.query(ADD_KEYS, [keys.map(hashApiKey), ...columns, limit]);
      return keys;
    };
    const keys = { load: await addKeys(LOAD_KEYS, LIMIT), exact: await addKeys(EXACT_KEYS, EXACT_LIMIT) };
    await database.query('VACUUM (ANALYZE)');
    return keys;
  });
}

/** Replaces a database by a copy of the template, written to disk, and returns its URL. */
export async function copyTemplate(serverUrl, name) {
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    await server.query(`CREATE DATABASE "${name}" TEMPLATE ${TEMPLATE}`);
    await server.query('CHECKPOINT');
  });
  return databaseUrl(serverUrl, name);
}

/** Returns how many animals and orders a database has. */
export async function countCreated(url) {
  const { rows } = await withDatabase(url, (database) =>
    database.query('SELECT (SELECT count(*) FROM pets)::int + (SELECT count(*) FROM orders)::int AS created'),
  );
  return rows[0].created;
}

/** Lends a connection. */
export async function withDatabase(url, use) {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    return await use(database);
  } finally {
    await database.end();
  }
}

function databaseUrl(serverUrl, database) {
  return Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
}
