import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import pg from 'pg';
import type { Statement } from './statements.js';

/** The folder stands as far above `src/database` as above `dist/database`. */
const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '..', '..', 'prisma', 'migrations');

const CONNECT_TIMEOUT_MS = 2_000;

/** How long to wait for another process that is applying the migrations. */
const LOCK_TIMEOUT_MS = 120_000;

/** Ours alone ("ANIM"). The schema engine takes another lock, 72707369, only while it applies. */
const ADVISORY_LOCK = 0x414e494d;

const UNDEFINED_TABLE = '42P01';

/** What a message tells whoever has a database without them. Prisma's own commands are not in the image. */
export const HOW_TO_MIGRATE = 'run "npx prisma migrate deploy", or in a container "animal-store migrate"';

/** What Prisma wrote down of the migrations it ran, without those that were rolled back. */
const RECORDED: Statement = {
  name: 'recorded-migrations',
  text: `SELECT migration_name, finished_at IS NOT NULL
    FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
};

type Recorded = [name: string, finished: boolean];

/**
 * The migrations that the database does not have yet, oldest first. Reads only.
 *
 * Throws the error of the question, and when an earlier migration failed half-way: what is to be done then is for a person to
 * decide.
 *
 * @param ask asks the database, and returns the rows as arrays.
 */
export async function pendingMigrations(
  ask: (statement: Statement) => Promise<Recorded[]>,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const recorded = await unlessNone(ask(RECORDED));
  const [failed] = recorded.find(([, finished]) => !finished) ?? [];
  if (failed !== undefined) {
    throw new Error(
      `The migration ${failed} failed earlier and left the database half-way. Repair it, then tell Prisma: ` +
        `npx prisma migrate resolve --applied ${failed} (or --rolled-back).`,
    );
  }
  const applied = new Set(recorded.map(([name]) => name));
  return (await migrationNames(migrationsFolder)).filter((name) => !applied.has(name));
}

/**
 * Applies the pending migrations, as `prisma migrate deploy` would, and returns their names.
 *
 * Processes that start at once take turns: one applies, the others wait for it up to two minutes and find nothing left.
 * Throws what `pendingMigrations` throws, and the error of the migration that failed.
 */
export async function applyPendingMigrations(
  connectionString: string,
  migrationsFolder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  return withClient(connectionString, async (client) => {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    // The lock belongs to the connection, and goes with it.
    const ask = async ({ text }: Statement) =>
      (await client.query<Recorded>({ text, rowMode: 'array' })).rows;
    const pending = await pendingMigrations(ask, migrationsFolder);
    return pending.length === 0 ? [] : apply(connectionString, migrationsFolder);
  });
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

async function apply(connectionString: string, migrationsFolder: string): Promise<string[]> {
  // Loaded only when there is something to apply: a service in operation needs no schema engine.
  const { openSchemaEngine } = await import('../../prisma/wasm-schema-engine.mjs');
  const { engine, close } = await openSchemaEngine({ connectionString });
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: await readMigrations(migrationsFolder),
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } finally {
    await close();
  }
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
