import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { RENAMED_OPERATIONS } from '../database/earlier-databases/conversions.js';
import { aggregateUsage } from '../support/keys/usage.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '..', '..', 'prisma', 'migrations');
const NAMES = '20261128000000_names';
const HOUR = '2026-11-25T10:00:00Z';
const MINUTE = Date.parse(HOUR) / 60_000;

const OPERATIONS = [...Object.keys(RENAMED_OPERATIONS), 'listPets', 'none'];

let database: TestDatabase;
let earlier: string;

/** Makes a database as the migrations before the names leave it. */
beforeEach(async () => {
  database = await createDatabase('template0');
  earlier = await mkdtemp(path.join(tmpdir(), 'migrations-'));
  for (const name of ['migration_lock.toml', ...OWN_MIGRATIONS.filter((each) => each < NAMES)]) {
    await cp(path.join(MIGRATIONS, name), path.join(earlier, name), { recursive: true });
  }
  await applyPendingMigrations(database.url, earlier);
});
afterEach(async () => {
  await database.drop();
  await rm(earlier, { recursive: true });
});

/** Returns the counts by key, period and operation. */
const counts = () =>
  database.query<Record<string, string | number>>(
    `SELECT key_id AS key, quota_id AS quota, period, operation, deprecated,
       succeeded::int, redirected::int, client_errors::int AS "clientErrors",
       server_errors::int AS "serverErrors", denied::int, last_request_at::text AS last
     FROM usage ORDER BY key_id, period, operation, deprecated`,
  );

/** Counts that differ for each operation. */
const countsOf = (operation: string) => {
  const number = OPERATIONS.indexOf(operation) + 1;
  return {
    succeeded: number,
    redirected: 100 * number,
    clientErrors: 1000 * number,
    serverErrors: 10_000 * number,
    denied: 500 * number,
  };
};

type Counts = ReturnType<typeof countsOf>;

/** Returns the sums of the operations that have the same name now. */
function sumsByNewName(): Map<string, Counts> {
  const sums = new Map<string, Counts>();
  for (const operation of OPERATIONS) {
    const name = RENAMED_OPERATIONS[operation] ?? operation;
    const before = sums.get(name);
    const added = countsOf(operation);
    const entries = Object.entries(added).map(([each, count]) => [
      each,
      count + (before?.[each as keyof Counts] ?? 0),
    ]);
    sums.set(name, Object.fromEntries(entries) as Counts);
  }
  return sums;
}

describe('the migration of the names', () => {
  it('renames the operations of usage and adds up those that have one name now', async () => {
    const [first, second] = [
      { key: randomUUID(), quota: randomUUID() },
      { key: randomUUID(), quota: randomUUID() },
    ];
    for (const { key, quota } of [first, second]) {
      for (const period of ['minute', 'hour', 'day']) {
        for (const [index, operation] of OPERATIONS.entries()) {
          await database.query(
            `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated, succeeded,
               redirected, client_errors, server_errors, refusals, last_at)
             VALUES ($1, $2, $3, $4, $5, false, $6, $7, $8, $9, $10,
               $4::timestamptz + $11 * interval '1 second')`,
            [key, quota, period, HOUR, operation, ...Object.values(countsOf(operation)), index],
          );
        }
      }
    }

    expect(await applyPendingMigrations(database.url)).toContain(NAMES);

    const sums = sumsByNewName();
    const rows = await counts();
    expect(rows).toHaveLength(2 * 3 * sums.size);
    for (const { key, quota, period, operation, last, deprecated, ...counted } of rows) {
      expect([operation, counted]).toEqual([operation, sums.get(String(operation))]);
      expect([quota, deprecated]).toEqual([key === first.key ? first.quota : second.quota, false]);
      expect(['minute', 'hour', 'day']).toContain(period);
      const merged = OPERATIONS.findLastIndex((each) => (RENAMED_OPERATIONS[each] ?? each) === operation);
      expect(new Date(String(last)).getTime()).toBe(Date.parse(HOUR) + merged * 1000);
    }
  });

  it('keeps apart what was deprecated, as the same operation before was not', async () => {
    const [key, quota] = [randomUUID(), randomUUID()];
    for (const deprecated of [false, true]) {
      for (const operation of ['labelKey', 'restrictKey']) {
        await database.query(
          `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated, succeeded,
             redirected, client_errors, server_errors, refusals, last_at)
           VALUES ($1, $2, 'day', '2026-11-25', $3, $4, 1, 0, 0, 0, 0, now())`,
          [key, quota, operation, deprecated],
        );
      }
    }
    await applyPendingMigrations(database.url);
    expect(await counts()).toMatchObject(
      [false, true].map((deprecated) => ({ operation: 'updateKey', deprecated, succeeded: 2 })),
    );
  });

  it('keeps requests that were journaled and not aggregated yet', async () => {
    const [keyId, quotaId] = [randomUUID(), randomUUID()];
    const entries = OPERATIONS.map((operation) => {
      const { denied, ...others } = countsOf(operation);
      const lastAtMs = Date.parse(HOUR) + 30_000;
      return {
        keyId,
        quotaId,
        minute: MINUTE,
        operation,
        deprecated: false,
        ...others,
        refusals: denied,
        lastAtMs,
      };
    });
    const halves = [entries.slice(0, 9), entries.slice(9)];
    for (const half of halves) {
      await database.query('INSERT INTO usage_batches VALUES ($1, now(), $2, $3)', [
        randomUUID(),
        half.length,
        JSON.stringify(half),
      ]);
    }
    // A batch that was aggregated already.
    await database.query("INSERT INTO usage_batches VALUES ($1, now(), 0, '[]')", [randomUUID()]);

    await applyPendingMigrations(database.url);
    await aggregateUsage(database.url);

    const sums = sumsByNewName();
    const rows = await counts();
    expect(rows).toHaveLength(3 * sums.size);
    for (const { operation, key, quota, last, period: _period, deprecated, ...counted } of rows) {
      expect([operation, counted]).toEqual([operation, sums.get(String(operation))]);
      expect([key, quota, deprecated]).toEqual([keyId, quotaId, false]);
      expect(new Date(String(last)).getTime()).toBe(Date.parse(HOUR) + 30_000);
    }
  });

  it('leaves no table of its own', async () => {
    await applyPendingMigrations(database.url);
    expect(await database.query("SELECT FROM pg_tables WHERE tablename LIKE 'renamed%'")).toStrictEqual([]);
  });
});
