import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  applyPendingMigrations,
  MigrationError,
  pendingMigrations as pendingBy,
} from '../../src/database/migrations.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { prisma as runPrisma } from '../support/database/prisma-cli.js';
import { until } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** A migration that a test adds. */
const BROKEN = '20991231000000_broken';

let database: TestDatabase;
let databaseUrl: string;
let folder: string;

beforeEach(async () => {
  database = await createDatabase('template0');
  databaseUrl = database.url;
  folder = await mkdtemp(path.join(tmpdir(), 'migrations-'));
  await cp(path.join(ROOT, 'prisma', 'migrations'), folder, { recursive: true });
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Uses the connections of the service. */
async function pendingMigrations(url: string, migrationsFolder?: string): Promise<string[]> {
  const prisma = new PrismaService({ DATABASE_URL: url, DATABASE_POOL_SIZE: 2 });
  try {
    return await pendingBy((statement) => prisma.query(statement), migrationsFolder);
  } finally {
    await prisma.onApplicationShutdown();
  }
}

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, name));
  await writeFile(path.join(folder, name, 'migration.sql'), sql);
}

describe('pendingMigrations', () => {
  it('returns all migrations of an empty database, in order', async () => {
    await addMigration('20991231000000_last', 'SELECT 1');
    expect(await pendingMigrations(databaseUrl, folder)).toEqual([...OWN_MIGRATIONS, '20991231000000_last']);
  });

  it('throws immediately when the server is unreachable', async () => {
    await expect(pendingMigrations('postgresql://postgres@127.0.0.1:1/none')).rejects.toThrow(
      'DatabaseNotReachable',
    );
  });
});

describe('applyPendingMigrations', () => {
  it('applies each pending migration once, later only those added since, returning their names', async () => {
    expect(await applyPendingMigrations(databaseUrl)).toEqual(OWN_MIGRATIONS);
    expect(await applyPendingMigrations(databaseUrl)).toStrictEqual([]);
    await addMigration('20991231000000_last', 'CREATE TABLE last ();');
    expect(await pendingMigrations(databaseUrl, folder)).toEqual(['20991231000000_last']);
    expect(await applyPendingMigrations(databaseUrl, folder)).toEqual(['20991231000000_last']);
  });

  it('lets a migration exceed the timeouts of the role, which are meant for requests', async () => {
    const name = new URL(databaseUrl).pathname.slice(1);
    for (const timeout of ['statement_timeout', 'transaction_timeout', 'idle_session_timeout']) {
      await database.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET ${timeout} = '200ms'`);
    }
    await addMigration('20991231000000_slow', 'SELECT pg_sleep(0.5);');
    expect(await applyPendingMigrations(databaseUrl, folder)).toContain('20991231000000_slow');
  });

  it('throws an error of one line for a database with foreign tables', async () => {
    await database.query('CREATE TABLE theirs ()');
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toThrow(
      /^The database schema is not empty\..+$/,
    );
  });

  it('closes all its connections', async () => {
    await applyPendingMigrations(databaseUrl);
    const others =
      'SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> ' +
      'pg_backend_pid()';
    expect(await database.query(others)).toEqual([{ count: 0 }]);
  });
});

const migrationError = (message: string) => ({ constructor: MigrationError, message });

/** The error for a failed migration, in one line. */
const failure = (name: string, why: string) =>
  migrationError(
    `The migration ${name} ${why}. Undo what it may have left, run "DELETE FROM _prisma_migrations ` +
      'WHERE migration_name = ' +
      `'${name}'" in the database, and migrate again.`,
  );

describe('a failed migration', () => {
  const divisionByZero = failure(BROKEN, 'failed: ERROR: division by zero');
  const apply = () => applyPendingMigrations(databaseUrl, folder);

  beforeEach(async () => {
    await addMigration(BROKEN, 'CREATE TABLE half (); SELECT 1 / 0;');
    await expect(apply()).rejects.toMatchObject(divisionByZero);
  });

  it('is reported with the error of the database, leaves nothing, and blocks the next start', async () => {
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    await expect(pendingMigrations(databaseUrl, folder)).rejects.toMatchObject(divisionByZero);
    await expect(apply()).rejects.toMatchObject(divisionByZero);
  });

  it('is ignored when it belongs to another release', async () => {
    expect(await pendingMigrations(databaseUrl)).toStrictEqual([]);
    expect(await applyPendingMigrations(databaseUrl)).toStrictEqual([]);
  });

  it('is pending again once its record is deleted', async () => {
    await database.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [BROKEN]);
    expect(await pendingMigrations(databaseUrl, folder)).toEqual([BROKEN]);
    await expect(apply()).rejects.toMatchObject(divisionByZero);
  });
});

describe('a migration whose process is killed while it waits for a lock', () => {
  const [name = ''] = OWN_MIGRATIONS;
  const UNDO =
    `Undo what it may have left, run "DELETE FROM _prisma_migrations WHERE migration_name = '${name}'" ` +
    'in the database, and migrate again.';
  const readReason = () =>
    pendingMigrations(databaseUrl).then(
      () => '',
      (error: Error) => error.message,
    );

  it('is reported as being applied until PostgreSQL is done, then as interrupted, with advice', async () => {
    const holder = await hold(databaseUrl, "CREATE TYPE pet_status AS ENUM ('held')", 'DROP TYPE pet_status');
    const cli = path.join(ROOT, 'dist', 'cli', 'admin.js');
    const env = { ...process.env, DATABASE_URL: databaseUrl, APP_ENV: 'staging' };
    const migrator = spawn(process.execPath, [cli, 'migrate'], { env, stdio: 'ignore' });
    const ended = once(migrator, 'exit');
    const waiting =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await database.query(waiting)).length === 1);
    migrator.kill('SIGKILL');
    await ended;
    expect(await readReason()).toBe(`The migration ${name} is being applied. Wait until that has ended.`);
    await holder.letGo();
    await until(async () => (await readReason()).includes('was interrupted'));
    const reason = await readReason();
    expect(reason).toMatch(
      `The migration ${name} was interrupted. If the database has what ` +
        `prisma/migrations/${name}/migration.sql creates, it was completed`,
    );
    expect(reason).toMatch(UNDO.replace('Undo', 'undo'));
    expect(await database.query("SELECT FROM pg_tables WHERE tablename = 'pets'")).toHaveLength(1);
    await expect(applyPendingMigrations(databaseUrl)).rejects.toMatchObject(migrationError(reason));

    const rest = OWN_MIGRATIONS.slice(1);
    await database.query('CREATE TABLE kept AS TABLE _prisma_migrations');
    await database.query(/in a container "(.+?)"/.exec(reason)?.[1] ?? '');
    expect(await pendingMigrations(databaseUrl)).toEqual(rest);

    await database.query('DELETE FROM _prisma_migrations');
    await database.query('INSERT INTO _prisma_migrations TABLE kept');
    await database.query('DROP TABLE kept');
    const resolve = /run "npx prisma (.+?)"/.exec(reason)?.[1]?.split(' ') ?? [];
    expect(await runPrisma(databaseUrl, resolve)).toMatchObject({ code: 0 });
    expect(await pendingMigrations(databaseUrl)).toEqual(rest);
    expect(await applyPendingMigrations(databaseUrl)).toEqual(rest);
    expect(await runPrisma(databaseUrl, ['migrate', 'status'])).toMatchObject({ code: 0 });
  });
});
