import { Logger } from '@nestjs/common';
import { DatabaseHealth } from '../../src/observability/database.health.js';
import { Connections } from '../../src/http/connections/connections.js';
import { ReplicaRegistry } from '../../src/observability/replica-registry.js';
import { about } from '../../src/openapi/about.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const { version } = about.info;
const NEWER = '99.0.0';

let database: TestDatabase;
let proxy: DatabaseProxy;
let store: TestApplication;
let admin: string;
let warnings: jest.SpyInstance;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startDatabaseProxy(database.url);
  store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
  ({ key: admin } = await store.issue({ role: 'admin', plan: 'business' }));
});
beforeEach(() => {
  warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await store.close();
  proxy.close();
  await database.drop();
});

const report = ({ app } = store) => app.get(ReplicaRegistry).report();
const getHealth = async () => (await send(`${store.url}/admin/health`, { key: admin })).json;
const storedVersions = async () =>
  (await database.query('SELECT version FROM replicas ORDER BY version')).map((row) => row['version']);

/** Starts another replica. That moves the clock by a minute, so this one reports again. */
async function startOther(): Promise<TestApplication> {
  const other = await startApplication({ database });
  await report();
  return other;
}

/** Does what a replica of another release did this long before this one reports. */
async function insert(age: string, other = NEWER): Promise<void> {
  await report();
  await database.query(
    `INSERT INTO replicas (id, version, host, started_at, last_seen_at)
     SELECT gen_random_uuid(), $1, 'other', started_at, last_seen_at - $2::interval FROM replicas
     WHERE version = $3`,
    [other, age, version],
  );
}

it('are shown to administrators with their versions, from their start until they stop', async () => {
  const other = await startOther();
  await eventually(async () => expect(await storedVersions()).toEqual([version, version]));
  await report();
  const { replicas } = await getHealth();
  expect(replicas).toHaveLength(2);
  expect(new Set(replicas.map(({ id }: { id: string }) => id)).size).toBe(2);
  for (const replica of replicas) {
    expect(Date.parse(replica.lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(replica.startedAt));
  }
  await other.close();
  expect(await storedVersions()).toEqual([version]);
  await report();
  expect((await getHealth()).replicas).toHaveLength(1);
});

it('are not shown before the database has their migrations, nor once it lacks one', async () => {
  jest.spyOn(Logger.prototype, 'error').mockImplementation();
  const migration = `FROM _prisma_migrations WHERE migration_name LIKE '%_replicas'`;
  await database.query(`CREATE TABLE kept AS SELECT * ${migration}`);
  await database.query(`DELETE ${migration}`);
  const other = await startOther();
  try {
    const check = async () => {
      const health = other.app.get(DatabaseHealth);
      // Its result would be shared for a second.
      await health['shared'];
      health['shared'] = null;
      await health.check();
    };
    await check();
    await report(other);
    expect(await storedVersions()).toEqual([version]);
    await database.query('INSERT INTO _prisma_migrations SELECT * FROM kept');
    await check();
    await report(other);
    expect(await storedVersions()).toEqual([version, version]);
    await database.query(`DELETE ${migration}`);
    await check();
    await report(other);
    expect(await storedVersions()).toEqual([version]);
  } finally {
    await database.query(`DELETE ${migration}`);
    await database.query('INSERT INTO _prisma_migrations SELECT * FROM kept');
    await other.close();
  }
});

it('are not shown while they drain', async () => {
  const other = await startOther();
  await eventually(async () => expect(await storedVersions()).toEqual([version, version]));
  other.app.get(Connections).drain();
  await report(other);
  expect(await storedVersions()).toEqual([version]);
  expect(other.app.get(ReplicaRegistry).replicas).toBeNull();
  await other.close();
});

it('keep their start when they report again', async () => {
  const read = () => database.query('SELECT id, started_at FROM replicas');
  const before = await read();
  await report();
  expect(await read()).toEqual(before);
});

it('cause a warning and a line of the log while they have several versions', async () => {
  await insert('55 s');
  await report();
  await report();
  expect(await getHealth()).toMatchObject({
    version,
    warnings: [
      { code: 'versions_mixed', message: expect.stringContaining(`the versions ${version} and ${NEWER} `) },
    ],
  });
  await database.query('DELETE FROM replicas WHERE version = $1', [NEWER]);
  await report();
  expect(await getHealth()).toMatchObject({ warnings: [] });
  expect(warnings.mock.calls).toEqual([
    [`Replicas of these versions serve now: ${version}, ${NEWER}`],
    [`Replicas of these versions serve now: ${version}`],
  ]);
});

it('are named by version in the order of the numbers', async () => {
  for (const each of ['99.10.0', '99.9.0']) {
    await insert('1 s', each);
  }
  await report();
  expect((await getHealth()).warnings).toMatchObject([
    { message: expect.stringContaining(`the versions ${version}, 99.9.0, and 99.10.0 serve`) },
  ]);
  await database.query('DELETE FROM replicas WHERE version <> $1', [version]);
});

it.each(['started_at', 'last_seen_at'])('have no infinite time: %s', async (column) => {
  await report();
  const update = database.query(`UPDATE replicas SET ${column} = 'infinity'`);
  await expect(update).rejects.toThrow(`replicas_${column}_representable`);
});

it.each(['65 s', '-65 s'])(
  'are removed if they were seen %s ago, by the clock of the database',
  async (age) => {
    await insert(age);
    await report();
    expect(await storedVersions()).toEqual([version]);
    expect((await getHealth()).warnings).toStrictEqual([]);
  },
);

it('are unknown while this replica cannot report, which stops no request', async () => {
  await database.query('ALTER TABLE replicas RENAME TO gone');
  await report();
  const { status, warnings: found, ...health } = await getHealth();
  expect([status, found, health.version, 'replicas' in health]).toEqual(['ready', [], version, false]);
  await database.query('ALTER TABLE gone RENAME TO replicas');
  proxy.goAway();
  await expect(report()).rejects.toThrow(/terminated|DatabaseNotReachable/);
  await proxy.comeBack();
  await report();
  expect((await getHealth()).replicas).toHaveLength(1);
});
