import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let store: TestApplication;
let administrator: IssuedKey;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET timezone = 'America/New_York'`,
  );
  store = await startApplication({ database });
  administrator = await store.issue({
    name: 'administrator',
    role: 'admin',
    plan: 'enterprise',
    perMinute: 1000,
    perDay: 1000,
  });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const admin = (method: string, path: string, body?: unknown) =>
  send(store.url + path, { method, key: administrator.key, body });
const statusOf = async ({ key }: IssuedKey) => (await send(`${store.url}/v1/pets`, { key })).status;
const instant = (offsetMs: number) => new Date(store.clock.now() + offsetMs).toISOString();

describe('a database whose time zone is that of New York', () => {
  it('ends a rotated key without an overlap at once', async () => {
    const { json: old } = await admin('POST', '/admin/keys', { name: 'rotated', plan: 'free' });
    expect(await statusOf(old)).toBe(200);
    const { status, json: successor } = await admin('POST', `/admin/keys/${old.id}/rotate`, {
      overlapSeconds: 0,
    });
    expect(status).toBe(201);
    await eventually(async () => expect(await statusOf(old)).toBe(401));
    expect(await statusOf(successor)).toBe(200);
    expect((await admin('GET', `/admin/keys/${old.id}`)).json.state).toBe('expired');
  });

  it('stores the instant at which a key expires, and filters by it', async () => {
    const expiresAt = instant(HOUR_MS);
    const { json } = await admin('POST', '/admin/keys', { name: 'expiring', plan: 'free', expiresAt });
    expect((await admin('GET', `/admin/keys/${json.id}`)).json.expiresAt).toBe(expiresAt);
    const [stored] = await database.query('SELECT expires_at FROM api_keys WHERE id = $1', [json.id]);
    expect(stored?.['expires_at']).toEqual(new Date(expiresAt));
    const before = async (offsetMs: number) =>
      (await admin('GET', `/admin/keys?search=expiring&expiresBefore=${instant(offsetMs)}`)).json;
    expect(await before(HOUR_MS / 2)).toEqual([]);
    expect(await before(2 * HOUR_MS)).toMatchObject([{ id: json.id, expiresAt }]);
  });

  it('records the times of requests and of audit events, and filters by them', async () => {
    const { json: key } = await admin('POST', '/admin/keys', { name: 'used', plan: 'free' });
    await statusOf(key);
    await store.app.get(UsageRecorder).flush();
    await store.app.get(UsageRecorder).flush();
    const { lastUsedAt } = (await admin('GET', `/admin/keys/${key.id}`)).json;
    expect(Math.abs(Date.parse(lastUsedAt) - store.clock.now())).toBeLessThan(HOUR_MS / 2);

    const since = async (offsetMs: number) => {
      const time = new Date(Date.now() + offsetMs).toISOString();
      return (await admin('GET', `/admin/audit?key=${key.id}&since=${time}`)).json;
    };
    expect(await since(-HOUR_MS / 2)).toMatchObject([{ action: 'key.issued' }]);
    expect(await since(HOUR_MS / 2)).toEqual([]);
    const [{ at }] = await since(-HOUR_MS / 2);
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(HOUR_MS / 2);
  });
});
