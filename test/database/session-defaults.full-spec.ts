import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { DAY_MS, HOUR_MS } from '../support/counters/clock.js';
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

/** Uses what reads or writes times, bytes, arrays and numbers, and expects the responses of any other database. */
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
  expect(await call('GET /admin/keys?sort=expires&limit=2')).toMatchObject([
    { id: old.id },
    { id: expiring.id },
  ]);

  const [ban] = [
    await call('POST /admin/keys', { name: 'banned', plan: 'enterprise', perMinute: 2, perDay: 9 }),
  ];
  for (const expected of [200, 200, 429, 429, 429]) {
    expect(await status(ban.key)).toBe(expected);
  }
  const { json } = await send(`${store.url}/v1/rate-limit`, { key: ban.key });
  const bannedMs = Date.parse(json.bannedUntil) - store.clock.now();
  expect(bannedMs).toBeGreaterThan(0);
  expect(bannedMs).toBeLessThanOrEqual(60_000);
  expect((await call('GET /admin/keys?banned=true')).map(({ id }: { id: string }) => id)).toEqual([ban.id]);
  await call(`POST /admin/keys/${ban.id}/unban`);

  const webhook = await call('POST /admin/webhooks', {
    url: 'https://example.com/',
    events: ['key.revoked'],
  });
  expect(await call('GET /admin/webhooks')).toMatchObject([{ id: webhook.id }]);
  await store.app.get(UsageRecorder).flush();
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
  expect(DAY_MS).toBe(86_400_000);
}

describe('a service on a database with other defaults', () => {
  it.each([
    "datestyle = 'German'",
    "datestyle = 'SQL, DMY'",
    "datestyle = 'Postgres, MDY'",
    "intervalstyle = 'sql_standard'",
    "intervalstyle = 'iso_8601'",
    "timezone = 'America/New_York'",
    "bytea_output = 'escape'",
    'array_nulls = off',
    "default_transaction_isolation = 'serializable'",
    "default_transaction_isolation = 'repeatable read'",
    "client_encoding = 'LATIN1'",
    'standard_conforming_strings = off',
    'extra_float_digits = -15',
    'extra_float_digits = 0',
    'transform_null_equals = on',
    'session_replication_role = replica',
    'session_replication_role = local',
    'synchronous_commit = off',
    'row_security = off',
    'default_transaction_deferrable = on',
    "plan_cache_mode = 'force_custom_plan'",
    "plan_cache_mode = 'force_generic_plan'",
    "statement_timeout = '1ms'",
    "lock_timeout = '1ms'",
    "idle_in_transaction_session_timeout = '1ms'",
    "idle_session_timeout = '1ms'",
    "transaction_timeout = '1ms'",
    "lc_numeric = 'de_DE.UTF-8'",
    "lc_time = 'de_DE.UTF-8'",
    "lc_messages = 'de_DE.UTF-8'",
    'quote_all_identifiers = on',
    "xmlbinary = 'hex'",
    "client_min_messages = 'debug5'",
    "default_tablespace = ''",
    "temp_buffers = '100'",
    "search_path = 'pg_catalog, public'",
    "role = 'pg_monitor'",
    'backslash_quote = off',
    "default_toast_compression = 'pglz'",
    'escape_string_warning = on',
    'lo_compat_privileges = on',
    "timezone_abbreviations = 'India'",
    "default_text_search_config = 'pg_catalog.german'",
    'enable_indexscan = off',
    'jit = on',
    'default_with_oids = off',
    'vacuum_cost_delay = 1',
    "work_mem = '64kB'",
    'from_collapse_limit = 1',
    'icu_validation_level = error',
    'xmloption = document',
  ])('keeps its promises: %s', async (setting) => {
    await setDefault(setting);
    await expectPromises();
  });
});
