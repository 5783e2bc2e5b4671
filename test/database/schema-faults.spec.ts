import pg from 'pg';
import { Logger } from '@nestjs/common';
import { applyPendingMigrations, MigrationError } from '../../src/database/migrations/migrations.js';
import { findSchemaFaults } from '../../src/database/migrations/schema-faults.js';
import { Readiness } from '../../src/observability/readiness.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { expectError, quotingId } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const MESSAGE = 'The database is not ready for this version of the service. Try again later.';
const HOW_TO_REPAIR =
  'either a migration was recorded only (delete its row in _prisma_migrations, and migrate again), or ' +
  'tables were changed by hand ("npx prisma migrate diff --from-config-datasource --to-schema ' +
  'prisma/schema.prisma --script", in a checkout of this version, prints the difference)';

describe('findSchemaFaults', () => {
  let database: TestDatabase;
  let client: pg.Client;
  const find = () => findSchemaFaults(client);

  beforeAll(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  // Each test changes the tables in a transaction, which is rolled back.
  beforeEach(() => client.query('BEGIN'));
  afterEach(() => client.query('ROLLBACK'));
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('returns null for a database with every migration, and more', async () => {
    await client.query('ALTER TABLE pets ADD COLUMN colour text, ADD COLUMN legs int NOT NULL DEFAULT 4');
    await client.query('CREATE TABLE of_theirs ()');
    expect(await find()).toBeNull();
  });

  it.each([
    ['DROP TABLE usage', 'lacks the table usage'],
    ['ALTER TABLE api_keys DROP COLUMN issuer_id', 'lacks the column api_keys.issuer_id'],
    ['ALTER TABLE plans RENAME per_day TO daily', 'lacks the column plans.per_day'],
    [
      'ALTER TABLE plans ALTER per_minute TYPE bigint',
      'has bigint instead of integer in the column plans.per_minute',
    ],
    ['ALTER TABLE pets ALTER status TYPE text', 'has text instead of pet_status in the column pets.status'],
    ['ALTER TABLE orders ALTER ship_date SET NOT NULL', 'accepts no NULL in the column orders.ship_date'],
    [
      'ALTER TABLE pets ADD COLUMN owner text NOT NULL',
      'requires a value in the column pets.owner, which this version does not have',
    ],
  ])('names the fault after %s', async (statement, fault) => {
    await client.query(statement);
    expect(await find()).toBe(fault);
  });

  it('names what is missing first', async () => {
    await client.query('ALTER TABLE api_keys ALTER name TYPE varchar, DROP COLUMN note');
    expect(await find()).toBe(
      'lacks the column api_keys.note, has character varying instead of text in the column api_keys.name',
    );
  });

  it('names ten faults, and counts the others', async () => {
    await client.query('DROP SCHEMA public CASCADE');
    await client.query('CREATE SCHEMA public');
    expect(await find()).toMatch(/^lacks the table api_keys, (lacks the table \w+, ){9}has \d+ more faults$/);
  });
});

describe('applyPendingMigrations', () => {
  it('rejects a database that lacks what its migrations added, and says what to do', async () => {
    const database = await createDatabase();
    await database.query('ALTER TABLE webhooks DROP COLUMN paused_at CASCADE');
    await expect(applyPendingMigrations(database.url)).rejects.toMatchObject({
      constructor: MigrationError,
      message:
        'The database lacks the column webhooks.paused_at, though every migration is recorded as applied: ' +
        `${HOW_TO_REPAIR}.`,
    });
    await database.drop();
  });
});

describe('a service whose database lacks a column', () => {
  let database: TestDatabase;
  let store: TestApplication;
  let errors: jest.SpyInstance;
  beforeEach(async () => {
    database = await createDatabase();
    errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    await database.drop();
  });

  const isReady = async (ready: boolean) =>
    eventually(async () =>
      expect((await store.app.get(Readiness).check()).status).toBe(ready ? 'ready' : 'not_ready'),
    );
  const expectNotReady = (response: HttpResponse) =>
    expectError(response, 503, 'service_unavailable', quotingId(MESSAGE, response));

  it('is not ready, names it to administrators and in the log, and returns 503 until it has it', async () => {
    await database.query('ALTER TABLE stored_responses DROP COLUMN location');
    store = await startApplication({ database });
    const { key } = await store.issue({ role: 'admin' });
    await isReady(false);
    const { status, json } = await send(`${store.url}/readyz`);
    expect([status, json.message]).toEqual([503, 'Not ready.']);
    const message =
      'the database lacks the column stored_responses.location; run "npx prisma migrate deploy", or in a ' +
      `container "animal-store migrate"; if that applies nothing, ${HOW_TO_REPAIR}`;
    const health = await send(`${store.url}/admin/health`, { key });
    expect([health.status, health.json]).toMatchObject([200, { status: 'not_ready' }]);
    expect(health.text).toContain(JSON.stringify(message));
    expect(errors.mock.calls).toEqual([[`Not ready: ${message}`]]);
    for (const path of ['/v1/pets', '/v1/rate-limit', '/v1/nothing', '/admin/keys']) {
      expectNotReady(await send(store.url + path, { key }));
    }
    expect((await send(`${store.url}/docs`)).status).toBe(200);
    await database.query('ALTER TABLE stored_responses ADD COLUMN location text');
    await isReady(true);
    expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
  });

  it('returns 503 before its check has found that, and loosens no limit', async () => {
    store = await startApplication({ database });
    await isReady(true);
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 5, perDay: 100 });
    await database.query('ALTER TABLE rate_limit_counters RENAME COLUMN ban_threshold TO threshold');
    await database.query('ALTER TABLE pets DROP COLUMN category_id');
    expectNotReady(await send(`${store.url}/v1/pets`, { key }));
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => send(`${store.url}/v1/key`, { key })),
    );
    const allowed = responses.filter(({ status }) => status === 200);
    expect(allowed.length).toBeLessThanOrEqual(4);
    responses.filter(({ status }) => status !== 200).forEach(expectNotReady);
    expect(allowed.filter(({ headers }) => headers.has('x-ratelimit-degraded'))).toStrictEqual([]);
  });
});
