import { PrismaService } from '../../src/database/access/prisma.service.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { HOUR_MS } from '../support/time/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';

let database: TestDatabase;
let store: TestApplication;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await store.close();
  await database.drop();
});

/** Sets a default of every later session that sets none. */
const setDefault = (setting: string) =>
  database.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET ${setting}`);

/**
 * Uses what reads or writes times, bytes, arrays and numbers, and expects the responses of any other
 * database.
 */
async function expectPromises(): Promise<void> {
  store = await startApplication({ database });
  const { key } = await store.issue({ ...UNLIMITED, name: 'administrator', role: 'admin' });
  const call = async (request: string, body?: unknown) => {
    const [method = '', path = ''] = request.split(' ');
    const { status, json, text } = await send(store.url + path, { method, key, body });
    if (status >= 400) {
      throw new Error(`${request}: ${text}`);
    }
    return json;
  };
  const status = async (used: string, path = '/v1/pets') =>
    (await send(store.url + path, { key: used })).status;
  const inMs = (ms: number) => new Date(store.clock.now() + ms).toISOString();

  const pet = await call('POST /v1/pets', { name: 'Tom 日本', categoryId: 3 });
  expect(pet).toEqual({ id: expect.any(Number), name: 'Tom 日本', categoryId: 3 });
  expect(await call('GET /v1/pets')).toEqual([pet]);
  const order = { petId: pet.id, quantity: 2, shipDate: inMs(0) };
  const placed = await call('POST /v1/store/orders', order);
  expect(placed).toMatchObject(order);
  expect(await call('GET /v1/store/orders')).toEqual([placed]);

  const expiresAt = inMs(HOUR_MS);
  const expiring = await call('POST /admin/keys', { name: 'expiring', plan: 'free', expiresAt });
  const old = await call('POST /admin/keys', { name: 'rotated', plan: 'free' });
  expect([await status(expiring.key), await status(old.key)]).toEqual([200, 200]);
  expect((await call(`GET /admin/keys/${expiring.id}`)).expiresAt).toBe(expiresAt);
  const successor = await call(`POST /admin/keys/${old.id}/rotate`, { overlapSeconds: 0 });
  await until(async () => (await status(old.key)) === 401, 900);
  expect(await status(successor.key)).toBe(200);
  expect((await call(`GET /admin/keys/${old.id}`)).state).toBe('expired');
  const revoked = await call('POST /admin/keys', { name: 'revoked', plan: 'free' });
  expect(await status(revoked.key)).toBe(200);
  await call(`POST /admin/keys/${revoked.id}/revoke`);
  await until(async () => (await status(revoked.key)) === 401, 900);
  expect(await call('GET /admin/keys?sort=expiresAt&limit=2')).toMatchObject([
    { id: old.id },
    { id: expiring.id },
  ]);

  const ban = await call('POST /admin/keys', { name: 'banned', plan: 'enterprise', perMinute: 2, perDay: 9 });
  for (let sent = 0; sent <= requestsBeforeBan(2); sent += 1) {
    expect(await status(ban.key)).toBe(sent < 2 ? 200 : 429);
  }
  const { json } = await send(`${store.url}/v1/rate-limit`, { key: ban.key });
  const bannedMs = Date.parse(json.bannedUntil) - store.clock.now();
  expect(bannedMs).toBeGreaterThan(0);
  expect(bannedMs).toBeLessThanOrEqual(60_000);
  expect((await call('GET /admin/keys?banned=true')).map(({ id }: { id: string }) => id)).toEqual([ban.id]);
  await call(`POST /admin/quotas/${ban.quotaId}/unban`);

  const webhook = await call('POST /admin/webhooks', {
    url: 'https://example.com/',
    events: ['key.revoked'],
  });
  expect(await call('GET /admin/webhooks')).toMatchObject([{ id: webhook.id }]);
  await store.app.get(UsageRecorder).flush();
  const { lastUsedAt } = await call(`GET /admin/keys/${expiring.id}`);
  expect(Math.abs(Date.parse(lastUsedAt) - store.clock.now())).toBeLessThan(HOUR_MS / 2);
  expect((await call(`GET /admin/audit?since=${inMs(-HOUR_MS / 2)}&limit=100`)).length).toBeGreaterThan(5);
  expect(await call(`GET /admin/audit?since=${inMs(HOUR_MS / 2)}`)).toStrictEqual([]);

  store.clock.travel(2 * HOUR_MS);
  await until(async () => (await status(expiring.key)) === 401, 900);
  store.clock.travel(-2 * HOUR_MS);
  expect((await send(`${store.url}/readyz`)).status).toBe(200);
  expect(await call('GET /v1/rate-limit')).toMatchObject({ windows: [{ name: 'minute' }, { name: 'day' }] });
}

describe('a service on a database with other defaults', () => {
  it.each([
    'array_nulls = off',
    "bytea_output = 'escape'",
    "datestyle = 'German'",
    "datestyle = 'SQL, DMY'",
    "default_transaction_isolation = 'serializable'",
    'extra_float_digits = -15',
    "intervalstyle = 'iso_8601'",
    'session_replication_role = replica',
    'standard_conforming_strings = off',
    'synchronous_commit = off',
    "timezone = 'America/New_York'",
    'transform_null_equals = on',
  ])('behaves as on any other: %s', async (setting) => {
    await setDefault(setting);
    await expectPromises();
  });

  it('commits animals to the disk, and counts alone without that', async () => {
    await setDefault('synchronous_commit = off');
    store = await startApplication({ database });
    const show = store.app.get(PrismaService).$queryRaw`SHOW synchronous_commit`;
    expect(await show).toEqual([{ synchronous_commit: 'on' }]);
  });
});

describe('the session of a connection', () => {
  it('throws an error for a time that cannot be read', async () => {
    store = await startApplication({ database });
    const { pools } = store.app.get(PrismaService);
    const client = await pools.queries.connect();
    try {
      await client.query("SET datestyle = 'German'");
      await expect(client.query('SELECT now()')).rejects.toThrow('a time that cannot be read');
    } finally {
      client.release(true);
    }
  });
});
