import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { namedStatement, type Statement } from './query-runner.js';

/** The folder stands as far above `src/database` as above `dist/database`. */
const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '..', '..', 'prisma', 'migrations');

const CONNECT_TIMEOUT_MS = 2_000;

const UNDEFINED_TABLE = '42P01';

/** What a message tells whoever has a database without them. Prisma's own commands are not in the image. */
export const HOW_TO_MIGRATE = 'run "npx prisma migrate deploy", or in a container "animal-store migrate"';

/** Prisma's code of a migration that failed earlier, and was not resolved. */
const FAILED_EARLIER = 'P3009';

/** Prisma's codes of what a person can mend. */
const EXPLAINED = /^P\d{4}$/;

/** What PostgreSQL said, in any of its languages, among the lines that the engine tells or records. */
const SERVER_ERROR = /^(?:Error querying the database: )?(\p{Lu}+: .+)$/mu;

/** What Prisma recorded of the migrations it ran, without those that were rolled back. Its lock is held by who applies them. */
const RECORDED = namedStatement(
  'recorded-migrations',
  `SELECT migration_name, finished_at IS NOT NULL, coalesce(logs, ''),
      finished_at IS NULL AND EXISTS (
        SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND objid = 72707369 AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
);

type Recorded = [name: string, finished: boolean, log: string, isBeingApplied: boolean];

/** Why migrations are not applied, or not resolved, and what a person is to do then. Its message is one line. */
export class MigrationError extends Error {}

/** An error of the schema engine. */
interface EngineError extends Error {
  code?: string;
  /** Of one that PostgreSQL refused, and that is to be resolved. */
  migrationName?: string;
}

/** What somebody has made of a migration that failed: finished it by hand, or undone it, so that it is applied again. */
export type Resolution = 'applied' | 'rolled-back';

/**
 * The migrations that the database does not have yet, oldest first. Reads only.
 *
 * @param ask asks the database, and returns the rows as arrays.
 * @throws the error of the query; and MigrationError when a migration of the folder is being applied, or failed earlier: what is to
 * be done then is for a person to decide.
 */
export async function pendingMigrations(
  ask: (statement: Statement) => Promise<Recorded[]>,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const names = await migrationNames(migrationsFolder);
  const recorded = await unlessNone(ask(RECORDED));
  // Those of another release are none of our concern.
  const unfinished = recorded.find(([name, finished]) => !finished && names.includes(name));
  if (unfinished !== undefined) {
    const [name, , log, isBeingApplied] = unfinished;
    if (isBeingApplied) {
      throw new MigrationError(`The migration ${name} is being applied`);
    }
    const reason = SERVER_ERROR.exec(log)?.[1] ?? 'why was not recorded';
    throw new MigrationError(`The migration ${name} failed earlier: ${reason}. ${howToResolve(name)}`);
  }
  const applied = new Set(recorded.map(([name]) => name));
  return names.filter((name) => !applied.has(name));
}

/**
 * Applies the pending migrations, as `prisma migrate deploy` would, and returns their names.
 *
 * Processes that start at once take turns: one applies, the others wait for it up to two minutes and find nothing left. An index
 * whose concurrent build was interrupted is built again.
 *
 * @throws what `pendingMigrations` throws, and MigrationError when a migration fails.
 */
export async function applyPendingMigrations(
  connectionString: string,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  if (await isUpToDate(connectionString, migrationsFolder)) {
    return [];
  }
  const migrationsList = await readMigrations(migrationsFolder);
  const filters = { externalTables: [], externalEnums: [] };
  try {
    const { appliedMigrationNames } = await withEngine(connectionString, (engine) =>
      engine.applyMigrations({ migrationsList, filters }),
    );
    return appliedMigrationNames;
  } catch (error) {
    if (error instanceof MigrationError && (error.cause as EngineError).code === FAILED_EARLIER) {
      // The engine names the migration, but not the reason.
      await withClient(connectionString, (client) => pendingMigrations(queryBy(client), migrationsFolder));
    }
    throw error;
  }
}

/**
 * Records what was made of a migration that failed, as `prisma migrate resolve` would. Waits for a process that applies.
 *
 * @throws MigrationError when there is no such migration, or it is in no state to be resolved so.
 */
export async function resolveMigration(
  connectionString: string,
  migrationName: string,
  resolution: Resolution,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<void> {
  const migrationsList = await readMigrations(migrationsFolder);
  await withEngine(connectionString, (engine) =>
    resolution === 'applied'
      ? engine.markMigrationApplied({ migrationName, migrationsList })
      : engine.markMigrationRolledBack({ migrationName }),
  );
}

async function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A connection lost between two queries is an event, which would end the process; the next query tells it as well.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns whether every migration of the folder is recorded as finished. */
function isUpToDate(connectionString: string, migrationsFolder: string): Promise<boolean> {
  return withClient(connectionString, async (client) => {
    const recorded = await unlessNone(queryBy(client)(RECORDED));
    const finished = new Set(recorded.filter(([, isFinished]) => isFinished).map(([name]) => name));
    return (await migrationNames(migrationsFolder)).every((name) => finished.has(name));
  });
}

const queryBy =
  (client: pg.Client) =>
  async ({ text }: Statement) =>
    (await client.query<Recorded>({ text, rowMode: 'array' })).rows;

/** Nothing of a database that no migration has come to. */
async function unlessNone(rows: Promise<Recorded[]>): Promise<Recorded[]> {
  try {
    return await rows;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) {
      return [];
    }
    throw error;
  }
}

async function migrationNames(migrationsFolder: string): Promise<string[]> {
  const entries = await readdir(migrationsFolder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

/** @throws MigrationError where the engine says what is wrong. */
async function withEngine<T>(
  connectionString: string,
  use: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  // Loaded only when there is something to do: a service in operation needs no schema engine.
  const { openSchemaEngine } = await import('../../prisma/wasm-schema-engine.mjs');
  const { engine, close } = await openSchemaEngine({ connectionString });
  try {
    return await use(engine);
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

/** The engine's own error in one line, with what to do next; any other as it is. */
function explained(error: unknown): unknown {
  const { code = '', message, migrationName } = error as EngineError;
  if (migrationName !== undefined) {
    const reason = SERVER_ERROR.exec(message)?.[1] ?? inOneLine(message);
    const text = `The migration ${migrationName} failed: ${reason}. ${howToResolve(migrationName)}`;
    return new MigrationError(text, { cause: error });
  }
  return EXPLAINED.test(code) ? new MigrationError(inOneLine(message), { cause: error }) : error;
}

function howToResolve(name: string): string {
  return (
    `Undo what it may have left, run "animal-store migrate --rolled-back ${name}", and migrate again; or finish it by hand, ` +
    `and run "animal-store migrate --applied ${name}". In a checkout, "npx prisma migrate resolve" takes the same options.`
  );
}

function inOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** All migrations, as the engine compares those applied with their files. */
async function readMigrations(migrationsFolder: string) {
  const migrationDirectories = await Promise.all(
    (await migrationNames(migrationsFolder)).map(async (name) => {
      const value = await readFile(path.join(migrationsFolder, name, 'migration.sql'), 'utf8');
      return { path: name, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
    }),
  );
  return {
    baseDir: migrationsFolder,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(path.join(migrationsFolder, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories,
  };
}
