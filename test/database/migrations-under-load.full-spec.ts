import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { applyPendingMigrations } from '../../src/database/migrations.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { run } from '../support/service/service-process.js';

/** The last migration before docs/adding-an-endpoint.md had its rule for migrations; all newer ones must keep the rule. */
const BASE = '20261121170000_orders_by_quota';
const LONGEST_WAIT_MS = 500;
const MIGRATIONS = path.resolve(__dirname, '..', '..', 'prisma', 'migrations');
/** Rows in the tables of `BASE`: a million in each table that grows forever or with traffic. */
const ROWS = `
  SET session_replication_role = replica; -- No foreign key is checked for each row.
  INSERT INTO plans VALUES ('pro', 300, 10000);
  INSERT INTO quotas (id, plan) SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'pro' FROM generate_series(1, 10000) n;
  INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
    SELECT id, id, 'key', sha256(id::text::bytea), 'ask_test_', '0000' FROM quotas;
  INSERT INTO pets (name, category_id, status) SELECT 'pet', n % 100, 'available' FROM generate_series(1, 1000000) n;
  INSERT INTO orders (quota_id, pet_id, quantity)
    SELECT ('00000000-0000-4000-8000-' || lpad((1 + n / 100 % 10000)::text, 12, '0'))::uuid, n, 1 FROM generate_series(1, 1000000) n;
  INSERT INTO usage
    SELECT id, id, 'minute', timestamptz '2026-11-21' + n * interval '1 minute', 'listPets', false, 1, 0, 0, 0, 0, now()
    FROM generate_series(1, 25) n, quotas;
  INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, granted)
    SELECT 'address:' || n, 0, 0, 300, 0, 0, 0 FROM generate_series(1, 100000) n;
  INSERT INTO idempotent_answers SELECT id, n::text, 'x', '{}', NULL, now() FROM quotas, generate_series(1, 10) n;
  INSERT INTO audit_entries (actor, action, subject, after)
    SELECT 'terminal', 'key.issued', 'key:' || n, '{}' FROM generate_series(1, 100000) n;`;

/**
 * Returns statements that take the locks of a read, an insert and an update in every table. They name no columns, so
 * they run before, during and after any migration that keeps the rule. The control statement takes no locks, and shows
 * the delay of the machine.
 */
async function statementsOf(database: TestDatabase): Promise<{ control: string; ofRequests: string[] }> {
  const tables = await database.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
  );
  return {
    control: 'SELECT 1',
    ofRequests: tables.flatMap(({ name }) => [
      `SELECT * FROM ${name} LIMIT 1`,
      `INSERT INTO ${name} SELECT * FROM ${name} LIMIT 0`,
      `SELECT * FROM ${name} WHERE ctid = '(0,1)' FOR UPDATE`,
    ]),
  };
}

/** Runs a statement again and again on its own connection, and keeps the longest time that it took. */
class RepeatedStatement {
  longestMs = 0;
  count = 0;
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(
    databaseUrl: string,
    readonly statement: string,
  ) {
    this.ended = this.repeat(new pg.Client({ connectionString: databaseUrl }));
  }

  stop(): Promise<void> {
    this.isOver = true;
    return this.ended;
  }

  private async repeat(client: pg.Client): Promise<void> {
    await client.connect();
    while (!this.isOver) {
      const startMs = performance.now();
      await client.query(this.statement);
      this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
      this.count += 1;
      await pause(10);
    }
    await client.end();
  }
}

describe(`every migration newer than ${BASE}, applied to a million rows under load`, () => {
  const newer = OWN_MIGRATIONS.filter((name) => name > BASE);
  let folder: string;
  let database: TestDatabase;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'migrations-under-load-'));
    await cp(MIGRATIONS, folder, {
      recursive: true,
      filter: (source) => !newer.includes(path.basename(source)),
    });
    database = await createDatabase('template0');
    await applyPendingMigrations(database.url, folder);
    await database.query(ROWS);
    await database.query('VACUUM ANALYZE');
  });
  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it(`delays no request by more than ${LONGEST_WAIT_MS} ms`, async () => {
    const { control, ofRequests } = await statementsOf(database);
    const load = [control, ...ofRequests].map((statement) => new RepeatedStatement(database.url, statement));
    const migrated = await run('cli/admin.js', { DATABASE_URL: database.url, APP_ENV: 'staging' }, 'migrate');
    await Promise.all(load.map((repeated) => repeated.stop()));

    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    expect(migrated.stdout.match(/^Applied the migration .*$/gm)).toEqual(
      newer.map((name) => `Applied the migration ${name}.`),
    );
    const [{ longestMs: delayMs } = { longestMs: NaN }, ...requests] = load;
    expect(Math.min(...requests.map(({ count }) => count))).toBeGreaterThan(0);
    expect(
      requests
        .filter(({ longestMs }) => longestMs - delayMs > LONGEST_WAIT_MS)
        .map(({ statement, longestMs }) => `${statement}: ${longestMs.toFixed()} ms`),
    ).toEqual([]);
  });
});
