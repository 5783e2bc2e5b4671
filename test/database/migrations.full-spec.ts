import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  applyPendingMigrations,
  findUnknownMigrations,
  MigrationError,
  pendingMigrations as pendingBy,
} from '../../src/database/migrations/migrations.js';
import { createPool } from '../../src/database/access/connection-pool.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { prisma as runPrisma } from '../support/database/prisma-cli.js';
import { eventually, until } from '../support/eventually.js';
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
  const pool = createPool({ DATABASE_URL: url }, 1);
  try {
    return await pendingBy(pool, migrationsFolder);
  } finally {
    await pool.end();
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
    await expect(pendingMigrations('postgresql://postgres@127.0.0.1:1/none')).rejects.toThrow('ECONNREFUSED');
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

  it('throws an error of one line for a database with foreign tables, which it names', async () => {
    await database.query(
      'CREATE TABLE theirs (); CREATE TABLE "Also theirs" (); CREATE VIEW seen AS SELECT 1',
    );
    const fault = /^The schema public contains tables of others: Also theirs, theirs\. .+ \?schema=\w+ .+$/;
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toThrow(fault);
    expect(await runPrisma(databaseUrl, ['migrate', 'deploy'])).toEqual({
      code: 1,
      output: expect.stringMatching(new RegExp(fault, 'm')),
    });
    expect(await applyPendingMigrations(`${databaseUrl}&schema=animals`, folder)).toEqual(OWN_MIGRATIONS);
  });

  it('throws the missing file of a migration, and applies none', async () => {
    await mkdir(path.join(folder, '20991231000000_empty'));
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toThrow(/ENOENT.+20991231000000_empty/);
    expect(await database.query("SELECT to_regclass('pets') AS pets")).toEqual([{ pets: null }]);
  });

  it('applies nothing from a folder without a migration', async () => {
    await applyPendingMigrations(databaseUrl);
    const empty = await mkdtemp(path.join(tmpdir(), 'no-migrations-'));
    expect(await applyPendingMigrations(databaseUrl, empty)).toStrictEqual([]);
    await rm(empty, { recursive: true });
  });

  it('closes all its connections', async () => {
    await applyPendingMigrations(databaseUrl);
    const others =
      'SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> ' +
      'pg_backend_pid()';
    // The server ends a session a moment after its connection is closed.
    await eventually(async () => expect(await database.query(others)).toEqual([{ count: 0 }]));
  });
});

const migrationError = (message: string) => ({ constructor: MigrationError, message });

describe('a failed migration', () => {
  const divisionByZero = migrationError(
    `The migration ${BROKEN} failed: ERROR: division by zero. It changed nothing. ` +
      'Correct the cause, and migrate again.',
  );
  const apply = () => applyPendingMigrations(databaseUrl, folder);

  beforeEach(async () => {
    await addMigration(BROKEN, 'CREATE TABLE half (); SELECT 1 / 0;');
    await expect(apply()).rejects.toMatchObject(divisionByZero);
  });

  it('is reported with the error of the database, to replicas too, and leaves nothing', async () => {
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    await expect(pendingMigrations(databaseUrl, folder)).rejects.toMatchObject(divisionByZero);
  });

  it('is ignored when it belongs to another release', async () => {
    expect(await pendingMigrations(databaseUrl)).toStrictEqual([]);
    expect(await applyPendingMigrations(databaseUrl)).toStrictEqual([]);
  });

  it('is applied by the next run, once its cause is gone', async () => {
    await expect(apply()).rejects.toMatchObject(divisionByZero);
    await writeFile(path.join(folder, BROKEN, 'migration.sql'), 'CREATE TABLE whole ();');
    expect(await apply()).toEqual([BROKEN]);
    expect(await pendingMigrations(databaseUrl, folder)).toStrictEqual([]);
    expect(await runPrisma(databaseUrl, ['migrate', 'status'])).not.toMatchObject({
      output: expect.stringContaining('failed') as string,
    });
  });
});

describe('a failed build of an index without a transaction', () => {
  it('is not repeated before an operator has removed what it left', async () => {
    const name = '20991231000000_index';
    const apply = () => applyPendingMigrations(databaseUrl, folder);
    await apply();
    await database.query("INSERT INTO pets (name, category_id) SELECT 'Rex', 1 FROM generate_series(1, 2)");
    const index = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS one_name ON pets (name);';
    await addMigration(name, index);
    const reason = migrationError(
      `The migration ${name} failed: ERROR: could not create unique index "one_name". ` +
        'Run "DROP INDEX CONCURRENTLY IF EXISTS one_name", run "DELETE FROM _prisma_migrations ' +
        `WHERE migration_name = '${name}'" in the database, and migrate again.`,
    );
    await expect(apply()).rejects.toMatchObject(reason);
    await expect(apply()).rejects.toMatchObject(reason);

    await database.query('DELETE FROM pets');
    for (const [, statement] of reason.message.matchAll(/run "(.+?)"/gi)) {
      await database.query(statement ?? '');
    }
    expect(await apply()).toEqual([name]);
  });
});

describe('a migration whose table is in use', () => {
  it('waits for it without delaying requests for longer than a second, and is then applied', async () => {
    await applyPendingMigrations(databaseUrl, folder);
    const name = '20991231000000_column';
    await addMigration(name, 'ALTER TABLE pets ADD COLUMN nickname TEXT;');
    const dump = await hold(databaseUrl, 'LOCK TABLE pets IN ACCESS SHARE MODE');
    const applied = applyPendingMigrations(databaseUrl, folder);
    const waiting =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await database.query(waiting)).length === 1);

    await database.query("SET LOCAL statement_timeout = '2500ms'; SELECT FROM pets");
    await until(async () => (await database.query(waiting)).length === 1);
    await dump.letGo();
    expect(await applied).toEqual([name]);
    expect(await pendingMigrations(databaseUrl, folder)).toStrictEqual([]);
  });
});

describe('a migration that waits for a lock, when a second process migrates', () => {
  const name = '20991231000000_doubled';
  const session =
    "SELECT pid, wait_event_type = 'Lock' AS waits FROM pg_locks JOIN pg_stat_activity USING (pid) " +
    "WHERE datname = current_database() AND locktype = 'advisory' AND objid = 72707369 AND granted";
  const isWaiting = async (expected: boolean) => {
    const [first] = await database.query<{ waits: boolean }>(session);
    return first?.waits === expected;
  };
  let reader: Awaited<ReturnType<typeof hold>>;
  let first: Promise<string[]>;

  /** Starts a migration, which waits for a reader, and returns between two of its attempts. */
  beforeEach(async () => {
    await applyPendingMigrations(databaseUrl, folder);
    await database.query('CREATE TABLE doubled AS SELECT 1 AS n');
    await addMigration(name, 'LOCK TABLE doubled IN ACCESS EXCLUSIVE MODE; UPDATE doubled SET n = n * 2;');
    reader = await hold(databaseUrl, 'SELECT FROM doubled');
    first = applyPendingMigrations(databaseUrl, folder);
    first.catch(() => {});
    await until(() => isWaiting(true));
    await until(() => isWaiting(false));
  });

  it('is being applied all the time, and is applied once, by the first', async () => {
    await expect(pendingMigrations(databaseUrl, folder)).rejects.toMatchObject(
      migrationError(`The migration ${name} is being applied. Wait until that has ended.`),
    );
    const second = applyPendingMigrations(databaseUrl, folder);
    await until(() => isWaiting(true));
    await reader.letGo();
    expect(await first).toEqual([name]);
    expect(await second).toStrictEqual([]);
    expect(await database.query('SELECT n FROM doubled')).toEqual([{ n: 2 }]);
  });

  it('is applied once, by the second, when the first has lost its connection and thus its turn', async () => {
    await database.query(`SELECT pg_terminate_backend(pid) FROM (${session}) AS migrator`);
    await until(async () => (await database.query(session)).length === 0);
    const second = applyPendingMigrations(databaseUrl, folder);
    await until(() => isWaiting(true));
    await reader.letGo();
    await expect(first).rejects.toBeInstanceOf(MigrationError);
    expect(await second).toEqual([name]);
    expect(await database.query('SELECT n FROM doubled')).toEqual([{ n: 2 }]);
  });

  it('is applied by the next run, when the first has lost its connection in an attempt', async () => {
    await until(() => isWaiting(true));
    await database.query(`SELECT pg_terminate_backend(pid) FROM (${session}) AS migrator`);
    await expect(first).rejects.toThrow(/^The migration \w+ failed: ERROR: terminating connection/);
    await reader.letGo();
    expect(await applyPendingMigrations(databaseUrl, folder)).toEqual([name]);
    expect(await database.query('SELECT n FROM doubled')).toEqual([{ n: 2 }]);
  });
});

describe('a failed migration with transactions of its own', () => {
  it('is not said to have changed nothing, nor repeated', async () => {
    const name = '20991231000000_own';
    await addMigration(name, 'BEGIN; CREATE TABLE half (); COMMIT; SELECT 1 / 0;');
    const reason = migrationError(
      `The migration ${name} failed: ERROR: division by zero. Undo what it may have changed, run "DELETE ` +
        `FROM _prisma_migrations WHERE migration_name = '${name}'" in the database, and migrate again.`,
    );
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(reason);
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(reason);
    expect(await database.query("SELECT to_regclass('half')::text AS half")).toEqual([{ half: 'half' }]);
  });

  it('is recorded as failed after an error in its open transaction', async () => {
    const name = '20991231000000_open';
    await addMigration(name, 'BEGIN; SELECT 1 / 0; COMMIT;');
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toThrow('ERROR: division by zero.');
  });
});

describe('a migration that an earlier build applied without recording that', () => {
  it.each([
    ['CREATE TABLE zz ();', 'relation "zz" already exists'],
    ['ALTER TABLE zz RENAME yy TO xx;', 'column "yy" does not exist'],
  ])('fails (%s), and its error says how to record it', async (sql, error) => {
    const name = '20991231000000_unrecorded';
    await applyPendingMigrations(databaseUrl, folder);
    await database.query('CREATE TABLE zz ()');
    await addMigration(name, sql);
    const reason = migrationError(
      `The migration ${name} failed: ERROR: ${error}. It changed nothing. Correct the cause, and migrate ` +
        "again. If Prisma's own engine or an earlier build had applied it without recording that, run " +
        `"UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = '${name}' AND ` +
        'rolled_back_at IS NULL" in the database instead.',
    );
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toMatchObject(reason);
    await database.query(/run "(.+?)"/.exec(reason.message)?.[1] ?? '');
    expect(await applyPendingMigrations(databaseUrl, folder)).toStrictEqual([]);
  });
});

describe('two migrations with the same script', () => {
  it('are both applied and recorded', async () => {
    const names = ['20991231000000_analyse', '20991231000001_again'];
    await addMigration(names[0] ?? '', 'ANALYZE;');
    await addMigration(names[1] ?? '', 'ANALYZE;');
    expect(await applyPendingMigrations(databaseUrl, folder)).toEqual([...OWN_MIGRATIONS, ...names]);
  });
});

describe('findUnknownMigrations', () => {
  it('returns the finished migrations of other releases, neither failed nor rolled-back ones', async () => {
    await addMigration('20991231000000_newer', 'SELECT 1');
    await addMigration('20991231000001_newer_failed', 'SELECT 1 / 0');
    await expect(applyPendingMigrations(databaseUrl, folder)).rejects.toBeInstanceOf(MigrationError);
    expect(await findUnknownMigrations(databaseUrl)).toEqual(['20991231000000_newer']);
  });
});

describe('a migration whose process is killed', () => {
  const [name = '', ...rest] = OWN_MIGRATIONS;
  const running =
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

  /** Starts a migration that takes some seconds, and kills its process meanwhile. */
  beforeEach(async () => {
    await database.query(
      `CREATE FUNCTION be_slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); END'`,
    );
    await database.query(
      `CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TYPE') EXECUTE FUNCTION be_slow()`,
    );
    const cli = path.join(ROOT, 'dist', 'cli', 'admin.js');
    const env = { ...process.env, DATABASE_URL: databaseUrl, APP_ENV: 'staging' };
    const migrator = spawn(process.execPath, [cli, 'migrate'], { env, stdio: 'ignore' });
    const ended = once(migrator, 'exit');
    await until(async () => (await database.query(running)).length === 1, 60_000);
    migrator.kill('SIGKILL');
    await ended;
    await expect(pendingMigrations(databaseUrl)).rejects.toMatchObject(
      migrationError(`The migration ${name} is being applied. Wait until that has ended.`),
    );
  });

  it('is applied by PostgreSQL to its end, and recorded', async () => {
    const pending = await eventually(() => pendingMigrations(databaseUrl), 30_000);
    expect(pending).toEqual(rest);
    expect(await applyPendingMigrations(databaseUrl)).toEqual(rest);
    expect(await runPrisma(databaseUrl, ['migrate', 'status'])).toMatchObject({ code: 0 });
  });

  it('is applied by the next run, if PostgreSQL did not end it either', async () => {
    await database.query(`SELECT pg_terminate_backend(pid) FROM (${running}) AS migrator`);
    const interrupted = `The migration ${name} was interrupted. It changed nothing. Migrate again.`;
    await until(async () =>
      pendingMigrations(databaseUrl).then(
        () => false,
        (error: Error) => error.message === interrupted,
      ),
    );
    await database.query('DROP EVENT TRIGGER slow');
    expect(await applyPendingMigrations(databaseUrl)).toEqual(OWN_MIGRATIONS);
    expect(await runPrisma(databaseUrl, ['migrate', 'status'])).toMatchObject({ code: 0 });
  });
});
