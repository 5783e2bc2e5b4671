import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { Clock } from '../src/clock.js';
import {
  applyPendingMigrations,
  MigrationError,
  pendingMigrations as pendingBy,
  resolveMigration,
} from '../src/database/migrations.js';
import { Statements } from '../src/database/statements.js';
import type { TallyEntry } from '../src/usage/tally.js';
import { UsageJournal } from '../src/usage/usage.journal.js';
import { OWN_MIGRATIONS } from './support/own-migrations.js';
import { createDatabase, dropDatabase, query, scratchDatabaseUrl } from './support/scratch-database.js';

const ROOT = path.resolve(import.meta.dirname, '..');
/** The migration that made the journal of usage. */
const JOURNAL = '20261121140000_usage_journal';
/** One that a test adds. */
const BROKEN = '20991231000000_broken';
const run = promisify(execFile);

let databaseUrl: string;
let folder: string;

beforeEach(async () => {
  databaseUrl = scratchDatabaseUrl();
  await createDatabase(databaseUrl);
  folder = await mkdtemp(path.join(tmpdir(), 'migrations-'));
  await cp(path.join(ROOT, 'prisma', 'migrations'), folder, { recursive: true });
});

afterEach(async () => {
  await dropDatabase(databaseUrl);
  await rm(folder, { recursive: true });
});

/** On connections as the service has them. */
async function pendingMigrations(url: string, migrationsFolder?: string): Promise<string[]> {
  const statements = new Statements({ DATABASE_URL: url, DATABASE_POOL_SIZE: 2 });
  try {
    return await pendingBy((statement) => statements.run(statement, []), migrationsFolder);
  } finally {
    await statements.onApplicationShutdown();
  }
}

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, name));
  await writeFile(path.join(folder, name, 'migration.sql'), sql);
}

test('on an empty database every migration is pending, in order', async () => {
  await addMigration('20991231000000_last', 'SELECT 1');
  expect(await pendingMigrations(databaseUrl, folder)).toEqual([...OWN_MIGRATIONS, '20991231000000_last']);
});

test('the pending migrations are applied once, and named', async () => {
  expect(await applyPendingMigrations(databaseUrl)).toEqual(OWN_MIGRATIONS);
  expect(await pendingMigrations(databaseUrl)).toEqual([]);
  expect(await applyPendingMigrations(databaseUrl)).toEqual([]);
});

test('a migration added later is the only one pending', async () => {
  await applyPendingMigrations(databaseUrl, folder);
  await addMigration('20991231000000_last', 'CREATE TABLE last ();');
  expect(await pendingMigrations(databaseUrl, folder)).toEqual(['20991231000000_last']);
  expect(await applyPendingMigrations(databaseUrl, folder)).toEqual(['20991231000000_last']);
});

test('usage that a release without a journal has written stays, and what is folded is added to it', async () => {
  const later = path.join(folder, '..', `${path.basename(folder)}-later`);
  await rename(path.join(folder, JOURNAL), later);
  await applyPendingMigrations(databaseUrl, folder);
  const key = randomUUID();
  const record = await readFile(path.join(ROOT, 'test', 'support', 'record-without-journal.sql'), 'utf8');
  const minute = Date.UTC(2027, 2, 5, 12) / 60_000;
  const entry: TallyEntry = {
    keyId: key,
    quotaId: key,
    minute,
    operation: 'listPets',
    deprecated: false,
    succeeded: 3,
    redirected: 0,
    clientErrors: 2,
    serverErrors: 0,
    refusals: 1,
    lastAtMs: minute * 60_000,
  };
  await query(databaseUrl, record, [randomUUID(), 1, JSON.stringify([entry]), 0]);
  const before = await query(databaseUrl, 'SELECT * FROM usage ORDER BY period');
  expect(before).toHaveLength(3);

  await rename(later, path.join(folder, JOURNAL));
  expect(await applyPendingMigrations(databaseUrl, folder)).toEqual([JOURNAL]);
  expect(await query(databaseUrl, 'SELECT * FROM usage ORDER BY period')).toEqual(before);
  const statements = new Statements({ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 2 });
  const journal = new UsageJournal(statements, new Clock());
  await journal.append({ recorderId: randomUUID(), number: 1, entries: [entry] });
  await journal.fold();
  await statements.onApplicationShutdown();
  expect(await query(databaseUrl, 'SELECT * FROM usage ORDER BY period')).toEqual(
    before.map((row) => ({ ...row, succeeded: '6', client_errors: '4', refusals: '2' })),
  );
});

test('semicolons in comments and function bodies do not end a statement', async () => {
  await addMigration(
    '20991231000000_function',
    `-- One; two.
     CREATE FUNCTION three() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN 3; END $$;`,
  );
  await applyPendingMigrations(databaseUrl, folder);
  expect(await query(databaseUrl, 'SELECT three()')).toEqual([{ three: 3 }]);
});

const tells = (message: string) => ({ constructor: MigrationError, message });

/** What is told of a migration that failed, on one line. */
const failure = (name: string, why: string) =>
  tells(
    `The migration ${name} ${why}. Undo what it may have left, run "animal-store migrate --rolled-back ${name}", and migrate ` +
      `again; or finish it by hand, and run "animal-store migrate --applied ${name}". In a checkout, "npx prisma migrate ` +
      'resolve" takes the same options.',
  );

test('a migration that fails is named with the error of the database, leaves nothing behind, and blocks the next start', async () => {
  await addMigration(BROKEN, 'CREATE TABLE half (); SELECT 1 / 0;');
  await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(
    failure(BROKEN, 'failed: ERROR: division by zero'),
  );
  expect(await query(databaseUrl, "SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);

  const earlier = failure(BROKEN, 'failed earlier: ERROR: division by zero');
  await expect(pendingMigrations(databaseUrl, folder)).rejects.toMatchObject(earlier);
  await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(earlier);
});

test('a migration whose process was killed is named likewise, though nobody recorded why it failed', async () => {
  await addMigration(BROKEN, 'SELECT 1 / 0;');
  await applyPendingMigrations(databaseUrl, folder).catch(() => {});
  await query(databaseUrl, 'UPDATE _prisma_migrations SET logs = NULL');
  await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(
    failure(BROKEN, 'failed earlier: why was not recorded'),
  );
});

test('a failed migration that is declared rolled back is pending again, and one declared applied is not', async () => {
  await addMigration(BROKEN, 'SELECT 1 / 0;');
  await applyPendingMigrations(databaseUrl, folder).catch(() => {});
  await resolveMigration(databaseUrl, BROKEN, 'rolled-back', folder);
  expect(await pendingMigrations(databaseUrl, folder)).toEqual([BROKEN]);

  await applyPendingMigrations(databaseUrl, folder).catch(() => {});
  await resolveMigration(databaseUrl, BROKEN, 'applied', folder);
  expect(await pendingMigrations(databaseUrl, folder)).toEqual([]);
  expect(await applyPendingMigrations(databaseUrl, folder)).toEqual([]);
});

test('what cannot be declared so is an error of one line', async () => {
  await applyPendingMigrations(databaseUrl, folder);
  const declared = (name: string, resolution: 'applied' | 'rolled-back') =>
    resolveMigration(databaseUrl, name, resolution, folder);
  await expect(declared(JOURNAL, 'rolled-back')).rejects.toMatchObject(
    tells(`Migration \`${JOURNAL}\` cannot be rolled back because it is not in a failed state.`),
  );
  await expect(declared(JOURNAL, 'applied')).rejects.toMatchObject(
    tells(`The migration \`${JOURNAL}\` is already recorded as applied in the database.`),
  );
  await expect(declared('no_such_migration', 'applied')).rejects.toThrow(
    /^The migration no_such_migration could not be found\..+$/,
  );
});

test('a database that has tables of somebody else is refused in one line', async () => {
  await query(databaseUrl, 'CREATE TABLE theirs ()');
  await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toThrow(
    /^The database schema is not empty\..+$/,
  );
});

test('no connection is left open', async () => {
  await applyPendingMigrations(databaseUrl);
  const others =
    'SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  expect(await query(databaseUrl, others)).toEqual([{ count: 0 }]);
});

test('a server that is not there is an error, not a wait', async () => {
  await expect(pendingMigrations('postgresql://postgres@127.0.0.1:1/none')).rejects.toThrow('ECONNREFUSED');
});

test('two processes that start at once on an empty database both succeed, and one of them applies', async () => {
  const script = path.join(ROOT, 'test', 'support', 'apply-migrations.mjs');
  const starts = [1, 2].map(() => run(process.execPath, [script, databaseUrl]));
  const applied = (await Promise.all(starts)).map(({ stdout }) => JSON.parse(stdout) as string[]);
  expect(applied.toSorted((a, b) => a.length - b.length)).toEqual([[], OWN_MIGRATIONS]);
});
