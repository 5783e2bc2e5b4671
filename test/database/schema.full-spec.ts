import { escapeIdentifier } from 'pg';
import { prisma as runPrisma } from '../support/database/prisma-cli.js';
import { createDatabase, query, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';

let database: TestDatabase;
const stores: TestApplication[] = [];

beforeEach(async () => {
  database = await createDatabase('template0');
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await database.drop();
  await query(process.env['TEST_DATABASE_URL'] ?? '', 'DROP ROLE IF EXISTS shop_owner');
});

function named(schema: string, address = database.url): string {
  const url = new URL(address);
  url.searchParams.set('schema', schema);
  return url.href;
}

/**
 * Returns the address for a role whose `search_path` is this schema, which it owns; in `public` it may not
 * create.
 */
async function searching(schema: string): Promise<string> {
  await database.query("CREATE ROLE shop_owner LOGIN PASSWORD 'secret'");
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await database.query(`GRANT CREATE ON DATABASE ${new URL(database.url).pathname.slice(1)} TO shop_owner`);
  await database.query(`CREATE SCHEMA ${escapeIdentifier(schema)} AUTHORIZATION shop_owner`);
  await database.query(`ALTER ROLE shop_owner SET search_path = ${escapeIdentifier(schema)}`);
  const url = new URL(database.url);
  url.username = 'shop_owner';
  url.password = 'secret';
  return url.href;
}

/** Returns the schemas with a table `pets`. */
const schemas = async () => {
  const rows = await database.query<{ schema: string }>(
    "SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'pets' ORDER BY 1",
  );
  return rows.map(({ schema }) => schema);
};

async function startStore(url: string): Promise<TestApplication> {
  const store = await startApplication({ database, environment: { DATABASE_URL: url } });
  stores.push(store);
  return store;
}

/** Uses each kind of connection: animals, orders, keys, counters, usage, readiness and the listener. */
async function expectService(store: TestApplication): Promise<void> {
  const admin = await store.issue({ name: 'administrator', plan: 'business', role: 'admin' });
  const call = (path: string, body?: unknown) =>
    send(store.url + path, { key: admin.key, body, ...(body !== undefined && { method: 'POST' }) });
  const pet = await call('/v1/pets', { name: 'Tom', categoryId: 3 });
  expect(pet.status).toBe(201);
  expect((await call('/v1/pets')).json).toEqual([pet.json]);
  expect((await call('/v1/store/orders', { petId: pet.json.id, quantity: 1 })).status).toBe(201);
  const issued = await call('/admin/keys', { name: 'client', plan: 'free' });
  expect(issued.status).toBe(201);
  expect((await send(`${store.url}/v1/pets`, { key: issued.json.key })).status).toBe(200);
  await until(() => store.app.get(ApiKeyChangeListener).isCurrent);
  expect((await call(`/admin/keys/${issued.json.id}/revoke`, {})).status).toBe(200);
  await until(async () => (await send(`${store.url}/v1/pets`, { key: issued.json.key })).status === 401, 900);
  expect((await call('/admin/keys')).json).toHaveLength(2);
  expect((await call('/admin/usage')).status).toBe(200);
  expect((await call('/admin/health')).json).toMatchObject({ status: 'ready' });
}

const SCHEMA = 'Mein Laden';

describe.each([
  ['?schema= of DATABASE_URL', async (schema: string) => named(schema)],
  ['search_path of the role', searching],
])('a schema that is the %s', (_how, addressOf) => {
  it('has the tables of the service, its migrations and its commands', async () => {
    const url = await addressOf('shop');
    expect(await applyPendingMigrations(url)).toEqual(OWN_MIGRATIONS);
    expect(await applyPendingMigrations(url)).toStrictEqual([]);
    const seeded = await runPrisma(url, ['db', 'seed'], { environment: { APP_ENV: 'staging' } });
    expect(seeded).toMatchObject({ code: 0, output: expect.stringContaining('ask_test_') as string });
    await issueKey({ url });
    await database.query('DELETE FROM shop.api_keys');
    const status = await runPrisma(url, ['migrate', 'status']);
    expect(status).toMatchObject({ code: 0, output: expect.stringContaining('up to date') as string });
    await expectService(await startStore(url));
    expect(await schemas()).toEqual(['shop']);
  });

  it('is migrated by "prisma migrate deploy", emptied by "migrate reset", beside other schemas', async () => {
    await applyPendingMigrations(database.url);
    await database.query("INSERT INTO public.pets (name, category_id) VALUES ('Rex', 1)");
    const url = await addressOf(SCHEMA);
    for (const command of [['deploy'], ['deploy'], ['reset', '--force']]) {
      expect(await runPrisma(url, ['migrate', ...command])).toMatchObject({ code: 0 });
    }
    expect(await schemas()).toEqual([SCHEMA, 'public']);
    expect(await database.query('SELECT name FROM public.pets')).toEqual([{ name: 'Rex' }]);
  });
});

describe('a database with a store in each of two schemas', () => {
  it('serves both: keys, counters, animals and changes of one are not those of the other', async () => {
    for (const schema of ['shop', 'zoo']) {
      await applyPendingMigrations(named(schema));
      await database.query(
        `INSERT INTO ${schema}.plans VALUES ('free', 60, 1000), ('business', 1000, 100000)`,
      );
    }
    const [shop, zoo] = [await startStore(named('shop')), await startStore(named('zoo'))];
    await expectService(shop);
    await expectService(zoo);
    const { key } = await shop.issue();
    expect((await send(`${zoo.url}/v1/pets`, { key })).status).toBe(401);
    expect((await send(`${shop.url}/v1/pets`, { key })).headers.get('x-ratelimit-remaining')).toBe('59');
  });
});

it('uses the schema of the URL, if the role has another search_path', async () => {
  const url = await searching('shop');
  await database.query('CREATE SCHEMA zoo AUTHORIZATION shop_owner');
  await applyPendingMigrations(named('zoo', url));
  expect(await schemas()).toEqual(['zoo']);
});

it('rejects migrations, with what to do, if no schema of search_path exists', async () => {
  await database.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET search_path = shop`);
  const message = 'no schema of search_path (shop) exists for this role: create it, or change search_path';
  await expect(applyPendingMigrations(database.url)).rejects.toThrow(message);
  expect(await runPrisma(database.url, ['migrate', 'deploy'])).toEqual({
    code: 1,
    output: expect.stringContaining(message) as string,
  });
});
