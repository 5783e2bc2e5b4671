import path from 'node:path';
import pg from 'pg';
import { generateApiKey, hashApiKey, keyHints } from '../dist/auth/rules/api-key.js';
import { applyPendingMigrations } from '../dist/database/migrations/migrations.js';

export const ANIMALS = 100_000;
/** The keys of requests, at random. */
const LOAD_KEYS = 1000;
/** Requests a minute of the keys that the check of exactness uses. */
export const EXACT_LIMIT = 300;
/** Requests a minute and a day of the keys under load; never reached. */
const LIMIT = 1_000_000_000;
/** One for each case of a set. */
const EXACT_KEYS = 7;
const MIGRATIONS = path.join(import.meta.dirname, '..', 'prisma', 'migrations');

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

/** Returns new keys: for load, and with a limit of EXACT_LIMIT. */
export function generateKeys() {
  const generate = (length) => Array.from({ length }, () => generateApiKey('production'));
  return { load: generate(LOAD_KEYS), exact: generate(EXACT_KEYS) };
}

/**
 * Creates the database that every contestant of one version gets a copy of.
 *
 * @param {string} serverUrl of any database on the server.
 * @param {string} name of the template.
 * @param {string} migrations folder of the version's migrations.
 */
export async function createTemplate(serverUrl, name, keys, migrations = MIGRATIONS) {
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    await server.query(`CREATE DATABASE "${name}"`);
  });
  const url = databaseUrl(serverUrl, name);
  await applyPendingMigrations(url, migrations);
  await withDatabase(url, async (database) => {
    await database.query(ADD_ANIMALS, [ANIMALS]);
    await database.query(`INSERT INTO plans (name) VALUES ('enterprise')`);
    const addKeys = async (added, limit) => {
      const hints = added.map(keyHints);
      const columns = [hints.map(({ prefix }) => prefix), hints.map(({ lastFour }) => lastFour)];
      await database.query(ADD_KEYS, [added.map(hashApiKey), ...columns, limit]);
    };
    await addKeys(keys.load, LIMIT);
    await addKeys(keys.exact, EXACT_LIMIT);
    await database.query('VACUUM (ANALYZE)');
  });
}

/** Replaces a database by a copy of a template, written to disk, and returns its URL. */
export async function copyTemplate(serverUrl, template, name) {
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    await server.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
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
