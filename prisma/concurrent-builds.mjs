// Builds indexes by `CREATE INDEX CONCURRENTLY` without the schema engine. While the build waits for older transactions, the engine would
// record the migration as unfinished, which other releases read as failed. Such a migration is one statement.

import pg from 'pg';

const COMMENTS = /--.*|\/\*[^]*?\*\//g;
const CONCURRENT_BUILD =
  /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:"([^"]+)"|(\w+))\s+ON\s[^;]+;?\s*$/i;

const APPLIED = `SELECT migration_name AS name FROM _prisma_migrations
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`;

/** For a build that the engine of an earlier release started and did not finish. */
const ROLL_BACK = `UPDATE _prisma_migrations SET rolled_back_at = now()
  WHERE migration_name = ANY ($1) AND finished_at IS NULL AND rolled_back_at IS NULL`;

/** A record with a log is a migration that PostgreSQL rejected. */
const BEGUN = `SELECT FROM _prisma_migrations WHERE migration_name = $1 AND coalesce(logs, '') = ''`;

/** Recorded as rolled back from the start: no release reads that as a failure, and the next run recognises its index by it. */
const BEGIN = `INSERT INTO _prisma_migrations (id, checksum, migration_name, rolled_back_at)
  SELECT gen_random_uuid(), '', $1::varchar, now() WHERE NOT EXISTS (${BEGUN})`;

/** Returns the name of the index that a migration builds concurrently, or undefined for any other migration. */
export function concurrentlyBuiltIndex(sql) {
  const [, quoted, bare] = CONCURRENT_BUILD.exec(sql.replaceAll(COMMENTS, '')) ?? [];
  return quoted ?? bare?.toLowerCase();
}

/** Returns, in order, the migrations that are one concurrent build and not applied yet. */
export async function pendingBuilds(session, migrations) {
  const builds = migrations.filter(({ migrationFile }) =>
    concurrentlyBuiltIndex(migrationFile.content.value),
  );
  const { rows } = await session.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present");
  if (builds.length === 0 || !rows[0].present) {
    return builds;
  }
  await session.query(ROLL_BACK, [builds.map(({ path }) => path)]);
  const applied = new Set((await session.query(APPLIED)).rows.map(({ name }) => name));
  return builds.filter(({ path }) => !applied.has(path));
}

/**
 * Builds the index of a migration, unless the server finished it after an earlier run was killed. First drops the invalid index of
 * an interrupted build. The caller records the migration as applied.
 *
 * @throws Error P3018, in one line, when PostgreSQL rejects the build.
 */
export async function buildIndex(session, { path: migrationName, migrationFile }) {
  const sql = migrationFile.content.value;
  const index = pg.escapeIdentifier(concurrentlyBuiltIndex(sql));
  const isValid = await isValidIndex(session, index);
  if (isValid && (await session.query(BEGUN, [migrationName])).rowCount > 0) {
    return;
  }
  try {
    // Its locks delay no request, but a build that times out leaves an invalid index.
    await session.query('SET lock_timeout = 0');
    if (isValid === false) {
      await session.query(`DROP INDEX CONCURRENTLY ${index}`);
    }
    if (!isValid) {
      await session.query(BEGIN, [migrationName]);
    }
    await session.query(sql);
    await session.query('RESET lock_timeout');
  } catch (error) {
    throw error instanceof pg.DatabaseError ? failedBuild(migrationName, error) : error;
  }
}

function failedBuild(migrationName, error) {
  const { severity, message, detail } = error;
  const reason = [`${severity}: ${message}`, ...(detail ? [detail.replace(/\.$/, '')] : [])].join(': ');
  return Object.assign(
    new Error(`The migration ${migrationName} failed: ${reason}. Mend that and migrate again.`, {
      cause: error,
    }),
    { code: 'P3018' },
  );
}

/** Returns undefined if there is no such index. */
async function isValidIndex(session, name) {
  const { rows } = await session.query('SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)', [
    name,
  ]);
  return rows[0]?.indisvalid;
}
