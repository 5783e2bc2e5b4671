import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { namedStatement, type Statement } from './query-runner.js';

/** The path is the same from `src/database` and `dist/database`. */
const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '..', '..', 'prisma', 'migrations');

const CONNECT_TIMEOUT_MS = 2_000;

const UNDEFINED_TABLE = '42P01';

/** The advice in messages about pending migrations. Prisma's commands are not in the image. */
export const HOW_TO_MIGRATE = 'run "npx prisma migrate deploy", or in a container "animal-store migrate"';

/** Prisma's code for a migration that failed earlier and was not resolved. */
const FAILED_EARLIER = 'P3009';

/** Prisma's codes of errors that an operator can fix. */
const KNOWN_ERROR = /^P\d{4}$/;

/** The error of PostgreSQL, in any of its languages, in a message or log of the engine. */
const SERVER_ERROR = /^(?:Error querying the database: )?(\p{Lu}+: .+)$/mu;

/** The migrations that Prisma recorded, without rolled-back ones. A process that applies migrations holds Prisma's advisory lock. */
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

/** Thrown if migrations cannot be applied or resolved. Its message is one line, and says what to do. */
export class MigrationError extends Error {}

/** An error of the schema engine. */
interface EngineError extends Error {
  code?: string;
  /** The migration that failed in PostgreSQL and has to be resolved. */
  migrationName?: string;
}

/** How a failed migration was resolved by hand: `applied` if it was finished, `rolled-back` if it was undone, to be applied again. */
export type Resolution = 'applied' | 'rolled-back';

/**
 * Returns the migrations that the database lacks, oldest first. Only reads.
 *
 * @param query runs a statement in the database, and returns the rows as arrays.
 * @throws the error of the query; MigrationError if a migration of the folder is being applied, or failed earlier and was not resolved.
 */
export async function pendingMigrations(
  query: (statement: Statement) => Promise<Recorded[]>,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const names = await migrationNames(migrationsFolder);
  const recorded = await emptyIfUnmigrated(query(RECORDED));
  // Migrations of other releases are ignored.
  const unfinished = recorded.find(([name, finished]) => !finished && names.includes(name));
  if (unfinished !== undefined) {
    const [name, , log, isBeingApplied] = unfinished;
    if (isBeingApplied) {
      throw new MigrationError(`The migration ${name} is being applied`);
    }
    const reason = SERVER_ERROR.exec(log)?.[1] ?? 'the reason was not recorded';
    throw new MigrationError(`The migration ${name} failed earlier: ${reason}. ${howToResolve(name)}`);
  }
  const applied = new Set(recorded.map(([name]) => name));
  return names.filter((name) => !applied.has(name));
}

/**
 * Applies the pending migrations, as `prisma migrate deploy` would, and returns their names.
 *
 * Of concurrent processes, one applies the migrations; the others wait for it, up to two minutes, and find none left. An index whose
 * concurrent build was interrupted is built again.
 *
 * @throws the errors of `pendingMigrations`, and MigrationError if a migration fails.
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
 * Records how a failed migration was resolved, as `prisma migrate resolve` would. Waits for a process that applies migrations.
 *
 * @throws MigrationError if there is no such migration, or its state does not allow the resolution.
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
  // Without a listener, a connection lost between two queries would end the process. The next query reports the loss.
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
    const recorded = await emptyIfUnmigrated(queryBy(client)(RECORDED));
    const finished = new Set(recorded.filter(([, isFinished]) => isFinished).map(([name]) => name));
    return (await migrationNames(migrationsFolder)).every((name) => finished.has(name));
  });
}

const queryBy =
  (client: pg.Client) =>
  async ({ text }: Statement) =>
    (await client.query<Recorded>({ text, rowMode: 'array' })).rows;

/** Returns no rows for a database without any migration. */
async function emptyIfUnmigrated(rows: Promise<Recorded[]>): Promise<Recorded[]> {
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

/** @throws MigrationError for an error that the engine explains. */
async function withEngine<T>(
  connectionString: string,
  use: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  // Loaded only if needed: a running service needs no schema engine.
  const { openSchemaEngine } = await import('../../prisma/wasm-schema-engine.mjs');
  const { engine, close } = await openSchemaEngine({ connectionString });
  try {
    return await use(engine);
  } catch (error) {
    throw explain(error);
  } finally {
    await close();
  }
}

/** Returns an error of the engine as one line that says what to do; any other error unchanged. */
function explain(error: unknown): unknown {
  const { code = '', message, migrationName } = error as EngineError;
  if (migrationName !== undefined) {
    const reason = SERVER_ERROR.exec(message)?.[1] ?? onOneLine(message);
    const text = `The migration ${migrationName} failed: ${reason}. ${howToResolve(migrationName)}`;
    return new MigrationError(text, { cause: error });
  }
  return KNOWN_ERROR.test(code) ? new MigrationError(onOneLine(message), { cause: error }) : error;
}

function howToResolve(name: string): string {
  return (
    `Undo what it may have left, run "animal-store migrate --rolled-back ${name}", and migrate again; or finish it by hand, ` +
    `and run "animal-store migrate --applied ${name}". In a checkout, "npx prisma migrate resolve" takes the same options.`
  );
}

function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Returns all migrations, because the engine compares applied migrations with their files. */
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
