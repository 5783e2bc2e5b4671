import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { prisma as runPrisma } from '../support/database/prisma-cli.js';
import { createDatabase, query, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const SERVER = process.env['TEST_DATABASE_URL'] ?? '';
const INIT = '20261123000000_init';

/** Longer than another test needs a shadow database. */
const SHADOW_MS = 30_000;

jest.setTimeout(90_000);

/** What `prisma.config.ts` imports. */
const SETTINGS = path.join('src', 'process', 'settings');

let database: TestDatabase;
let databaseUrl: string;
/** A folder for the files of a test. */
let folder: string;

beforeEach(async () => {
  database = await createDatabase('template0');
  databaseUrl = database.url;
  folder = await mkdtemp(path.join(tmpdir(), 'prisma-'));
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const prisma = (args: string[], environment: NodeJS.ProcessEnv = {}, cwd = ROOT) =>
  runPrisma(databaseUrl, args, { environment, cwd });

const succeeds = (text: string) => ({ code: 0, output: expect.stringContaining(text) as string });
const fails = (text: string) => ({ code: 1, output: expect.stringContaining(text) as string });

/** Copies the project, so that a test can add migrations. */
async function copyProject(): Promise<string> {
  for (const name of ['prisma', 'prisma.config.ts', SETTINGS, 'package.json']) {
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  return folder;
}

test('migrate deploy makes the tables once, migrate status shows it, migrate reset empties it', async () => {
  await query(SERVER, `DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)}`);
  expect(await prisma(['migrate', 'status'])).toEqual(fails('P1003'));
  const first = await prisma(['migrate', 'deploy']);
  expect(first).toEqual(succeeds(INIT));
  expect(first).toEqual(succeeds('All migrations have been successfully applied.'));
  expect(await prisma(['migrate', 'deploy'])).toEqual(succeeds('No pending migrations to apply.'));
  await database.query("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)");
  expect(await prisma(['migrate', 'reset', '--force'])).toEqual(succeeds('Database reset successful'));
  expect(await database.query('SELECT * FROM pets')).toStrictEqual([]);
});

test('db seed runs prisma/seed.ts, which creates the plans and the first administrator', async () => {
  await prisma(['migrate', 'deploy']);
  const first = await prisma(['db', 'seed'], { APP_ENV: 'staging' });
  expect(first).toEqual(succeeds('prisma/seed.ts'));
  expect(first).toEqual(succeeds("The administrator's key, shown this once: ask_test_"));
  expect(await database.query('SELECT count(*)::int FROM plans')).toEqual([{ count: 4 }]);
});

test('migrate diff finds no difference between the migrations and the schema', async () => {
  const diff = ['migrate', 'diff', '--to-schema', 'prisma/schema.prisma', '--exit-code'];
  expect(await prisma([...diff, '--from-migrations', 'prisma/migrations'])).toEqual(
    succeeds('No difference detected.'),
  );
});

test('migrate dev writes and applies the migration of a change, and leaves no shadow database', async () => {
  const project = await copyProject();
  const schemaFile = path.join(project, 'prisma', 'schema.prisma');
  const schema = await readFile(schemaFile, 'utf8');
  await writeFile(schemaFile, schema.replace(/^model Pet \{$/m, 'model Pet {\n  nickname String?'));
  expect(await prisma(['migrate', 'dev', '--name', 'nickname'], {}, project)).toEqual(
    succeeds('Your database is now in sync with your schema.'),
  );
  const shadows = "SELECT datname FROM pg_database WHERE datname LIKE 'prisma_migrate_shadow_db_%'";
  // Those of other tests, which run beside this one, are dropped in time.
  const left = await query<{ datname: string }>(SERVER, shadows);
  await eventually(async () => {
    const now = await query<{ datname: string }>(SERVER, shadows);
    expect(left.filter(({ datname }) => now.some((each) => each.datname === datname))).toStrictEqual([]);
  }, SHADOW_MS);
  const migrations = await readdir(path.join(project, 'prisma', 'migrations'));
  const added = migrations.find((name) => name.endsWith('_nickname')) ?? '';
  expect(await readFile(path.join(project, 'prisma', 'migrations', added, 'migration.sql'), 'utf8')).toMatch(
    /ALTER TABLE "pets" ADD COLUMN +"nickname" TEXT/,
  );
  expect(await database.query('SELECT nickname FROM pets')).toStrictEqual([]);
});

test('commands that need the address read DIRECT_DATABASE_URL_FILE, else DATABASE_URL_FILE', async () => {
  const file = path.join(folder, 'database-url');
  await writeFile(file, `${databaseUrl}\n`);
  const away = 'postgresql://postgres@127.0.0.1:1/none';
  const inFile = { DATABASE_URL: '', DATABASE_URL_FILE: file };
  expect(await prisma(['migrate', 'deploy'], inFile)).toEqual(succeeds(INIT));
  expect(await prisma(['migrate', 'status'], { DATABASE_URL: away, DIRECT_DATABASE_URL_FILE: file })).toEqual(
    succeeds('Database schema is up to date!'),
  );
  const missing = { DATABASE_URL: '', DATABASE_URL_FILE: path.join(folder, 'missing') };
  const script = ['migrate', 'diff', '--from-empty', '--to-schema', 'prisma/schema.prisma', '--script'];
  expect(await prisma(script, missing)).toEqual(succeeds('CREATE TABLE "pets"'));
});

test('a failed migration is P3018 with its error, and is applied by the next deploy', async () => {
  const project = await copyProject();
  const file = path.join(project, 'prisma', 'migrations', INIT, 'migration.sql');
  const init = await readFile(file, 'utf8');
  await writeFile(file, 'SELECT 1 / 0;');
  const failure = await prisma(['migrate', 'deploy'], {}, project);
  expect(failure).toEqual(fails('P3018'));
  expect(failure).toEqual(fails('ERROR: division by zero'));
  await writeFile(file, init);
  expect(await prisma(['migrate', 'deploy'], {}, project)).toEqual(succeeds(INIT));
});

test('commands but generate report a DATABASE_URL that is missing or leads nowhere (P1001)', async () => {
  const deploy = (DATABASE_URL: string) => prisma(['migrate', 'deploy'], { DATABASE_URL });
  expect(await deploy('')).toEqual(fails('DATABASE_URL is missing'));
  expect(await deploy('postgresql://postgres@127.0.0.1:1/none')).toEqual(fails('P1001'));
  const project = await copyProject();
  expect(await prisma(['generate'], { DATABASE_URL: '' }, project)).toEqual(
    succeeds('Generated Prisma Client'),
  );
});

test('an engine in PRISMA_SCHEMA_ENGINE_BINARY is preferred', async () => {
  const engine = path.join(folder, 'engine');
  await writeFile(engine, '#!/bin/sh\necho engine-of-my-own 1.0\n', { mode: 0o755 });
  expect(await prisma(['-v'], { PRISMA_SCHEMA_ENGINE_BINARY: engine })).toEqual(
    succeeds('engine-of-my-own 1.0'),
  );
});
