import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { isOneTransaction } from '../../../prisma/migration-script.mjs';
import { findSchema } from '../../../prisma/session-settings.mjs';
import { OperatorError } from '../../process/operator-error.js';
import { hasCode } from '../access/availability.js';
import { createPool } from '../access/connection-pool.js';
import { requireUtf8 } from '../access/server-encoding.js';
import { findSchemaFaults, HOW_TO_REPAIR } from './schema-faults.js';

/** The path is the same from `src`, `build` and `dist`. */
const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '..', '..', '..', 'prisma', 'migrations');

/** Read once: a release that replaces the files of a running service has other migrations. */
const OWN_NAMES = migrationNames(MIGRATIONS_FOLDER);

const UNDEFINED_TABLE = /^42P01$/;
/** Prisma's codes of errors that an operator can fix. */
const KNOWN_ERROR = /^P\d{4}$/;
/** The error of PostgreSQL, in any of its languages, in a log of the engine. */
const SERVER_ERROR = /^(?:Error querying the database: )?(\p{Lu}+: .+)$/mu;
/** The code of PostgreSQL's error in such a log. */
const SERVER_ERROR_CODE = /^Database error code: (\w{5})$/m;
/** The codes of errors that what a migration creates exists, or that what it renames or drops does not. */
const MAY_BE_APPLIED = /^42(?:P06|P07|701|710|723|P01|703|704|883)$/;

/** The index that a migration builds while others use the table, which may be left invalid or complete. */
const CONCURRENT_INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?(\w+)/m;

interface RecordedMigration {
  name: string;
  finished: boolean;
  log: string;
  isMigrating: boolean;
}

/** Without rolled-back ones; and whether a process holds the lock of the engine. */
const RECORDED = `
  SELECT migration_name AS name, finished_at IS NOT NULL AS finished, coalesce(logs, '') AS log, EXISTS (
    SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory' AND objid = 72707369 AND granted
  ) AS "isMigrating"
  FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`;

/** Thrown if migrations cannot be applied. Its message is one line. */
export class MigrationError extends OperatorError {}

/**
 * Returns the migrations that the database lacks, oldest first. Only reads.
 *
 * @throws the error of the query; MigrationError if a migration of the folder is unfinished.
 */
export async function pendingMigrations(
  pool: Pick<pg.Pool, 'query'>,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const names = migrationsFolder === MIGRATIONS_FOLDER ? OWN_NAMES : migrationNames(migrationsFolder);
  const recorded = await pool.query<RecordedMigration>(RECORDED).then(
    ({ rows }) => rows,
    (error: unknown) => {
      if (hasCode(error, UNDEFINED_TABLE)) {
        return [];
      }
      throw error;
    },
  );
  // Migrations of other releases are ignored.
  const unfinished = recorded.find(({ name, finished }) => !finished && names.includes(name));
  if (unfinished !== undefined) {
    const script = readScript(migrationsFolder, unfinished.name);
    throw new MigrationError(describeUnfinished(unfinished, script));
  }
  const applied = new Set(recorded.map(({ name }) => name));
  return names.filter((name) => !applied.has(name));
}

function describeUnfinished({ name, log, isMigrating }: RecordedMigration, script: string): string {
  const reason = SERVER_ERROR.exec(log)?.[1];
  if (reason === undefined && isMigrating) {
    return `The migration ${name} is being applied. Wait until that has ended.`;
  }
  const what = `The migration ${name} ${reason === undefined ? 'was interrupted' : `failed: ${reason}`}.`;
  // Else PostgreSQL has undone all that it did.
  if (!isOneTransaction(script)) {
    const index = CONCURRENT_INDEX.exec(script)?.[1];
    const undo =
      index === undefined
        ? 'Undo what it may have changed'
        : `Run "DROP INDEX CONCURRENTLY IF EXISTS ${index}"`;
    return (
      `${what} ${undo}, run "DELETE FROM _prisma_migrations WHERE migration_name = '${name}'" in the ` +
      'database, and migrate again.'
    );
  }
  const next = reason === undefined ? 'Migrate again.' : 'Correct the cause, and migrate again.';
  const undone = `${what} It changed nothing. ${next}`;
  // Other engines record a migration after it is committed.
  return MAY_BE_APPLIED.test(SERVER_ERROR_CODE.exec(log)?.[1] ?? '')
    ? `${undone} If Prisma's own engine or an earlier build had applied it without recording that, run ` +
        `"UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = '${name}' AND ` +
        'rolled_back_at IS NULL" in the database instead.'
    : undone;
}

/**
 * Applies the pending migrations, as `prisma migrate deploy` would, and returns their names. One that failed
 * or was interrupted is applied again. If several processes start at once, one applies them; the others wait
 * for it, up to two minutes, and return no names.
 *
 * @throws the errors of `pendingMigrations` and `requireUtf8`, and MigrationError if a migration fails, or if
 *   the database lacks something though it has every migration.
 */
export async function applyPendingMigrations(
  connectionString: string,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const pool = createPool({ DATABASE_URL: connectionString }, 1);
  try {
    await requireUtf8(pool);
    await findSchema(pool, connectionString);
    const pending = await pendingMigrations(pool, migrationsFolder).catch((error: unknown) => {
      if (error instanceof MigrationError) {
        return null;
      }
      throw error;
    });
    // The engine takes long to load, so it is opened only if a migration is pending or unfinished: it waits
    // for another process that applies one.
    const applied =
      pending?.length === 0
        ? []
        : await applyByEngine(connectionString, migrationsFolder).catch(async (error: unknown) => {
            // Throws why a migration failed, as recorded; the engine does not report an earlier failure.
            await pendingMigrations(pool, migrationsFolder);
            throw error;
          });
    // Migrations of another version lead to other columns.
    const faults = migrationsFolder === MIGRATIONS_FOLDER ? await findSchemaFaults(pool) : null;
    if (faults !== null) {
      throw new MigrationError(
        `The database ${faults}, though every migration is recorded as applied: ${HOW_TO_REPAIR}.`,
      );
    }
    return applied;
  } finally {
    await pool.end();
  }
}

/** Returns the finished migrations of other releases that a database has, oldest first. */
export async function findUnknownMigrations(connectionString: string): Promise<string[]> {
  const pool = createPool({ DATABASE_URL: connectionString }, 1);
  try {
    const { rows } = await pool.query<RecordedMigration>(RECORDED);
    return rows.flatMap(({ name, finished }) => (finished && !OWN_NAMES.includes(name) ? [name] : []));
  } finally {
    await pool.end();
  }
}

function migrationNames(migrationsFolder: string): string[] {
  const entries = readdirSync(migrationsFolder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

function readScript(...names: string[]): string {
  return readFileSync(path.join(...names, 'migration.sql'), 'utf8');
}

/** @throws MigrationError for an error that the engine explains. */
async function applyByEngine(connectionString: string, migrationsFolder: string): Promise<string[]> {
  // The engine compares applied migrations with their files too.
  const migrationDirectories = migrationNames(migrationsFolder).map((name) => {
    const content = { tag: 'ok' as const, value: readScript(migrationsFolder, name) };
    return { path: name, migrationFile: { path: 'migration.sql', content } };
  });
  const name = 'migration_lock.toml';
  const lockfile = { path: name, content: readFileSync(path.join(migrationsFolder, name), 'utf8') };
  // Loaded only if needed: a running service needs no schema engine.
  const { openSchemaEngine } = await import('../../../prisma/wasm-schema-engine.mjs');
  const { engine, close } = await openSchemaEngine({ connectionString });
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: { baseDir: migrationsFolder, lockfile, shadowDbInitScript: '', migrationDirectories },
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    const line = message.trim().replaceAll(/\s+/g, ' ');
    throw KNOWN_ERROR.test(code) ? new MigrationError(line, { cause: error }) : error;
  } finally {
    await close();
  }
}
