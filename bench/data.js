import pg from 'pg';
import { generateApiKey, hashApiKey, keyHints } from '../dist/auth/api-key.js';
import { applyPendingMigrations } from '../dist/database/migrations.js';

/** Of each key in a minute and in a day: never reached. */
const LIMIT = 1_000_000_000;
const TEMPLATE = 'bench_template';
const COPY = 'bench';

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
 * Makes the database that everybody gets a copy of.
 *
 * @param {string} serverUrl of a database on the server.
 * @param {{ animals: number, keys: number }} sizes how many there are to be.
 * @returns the keys that are let in.
 */
export async function makeTemplate(serverUrl, sizes) {
  const keys = Array.from({ length: sizes.keys }, () => generateApiKey('production'));
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${TEMPLATE}`);
  });
  const url = urlOf(serverUrl, TEMPLATE);
  await applyPendingMigrations(url);
  await withDatabase(url, async (database) => {
    await database.query(ADD_ANIMALS, [sizes.animals]);
    await database.query(`INSERT INTO plans (name) VALUES ('enterprise')`);
    const hints = keys.map(keyHints);
    await database.query(ADD_KEYS, [
      keys.map(hashApiKey),
      hints.map(({ prefix }) => prefix),
      hints.map(({ lastFour }) => lastFour),
      LIMIT,
    ]);
    await database.query('VACUUM (ANALYZE)');
  });
  return keys;
}

/**
 * Makes a copy of the template in place of the one before, and has all of it written, so that nobody's turn pays for
 * what another left behind.
 *
 * @returns its address.
 */
export async function copyTemplate(serverUrl) {
  await withDatabase(serverUrl, async (server) => {
    await server.query(`DROP DATABASE IF EXISTS ${COPY} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${COPY} TEMPLATE ${TEMPLATE}`);
    await server.query('CHECKPOINT');
  });
  return urlOf(serverUrl, COPY);
}

/** How many animals there are. */
export async function countAnimals(url) {
  const { rows } = await withDatabase(url, (database) =>
    database.query('SELECT count(*)::int AS animals FROM pets'),
  );
  return rows[0].animals;
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

function urlOf(serverUrl, database) {
  return Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
}
