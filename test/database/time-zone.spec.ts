import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { HOUR_MS } from '../support/time/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} SET timezone = 'America/New_York'`);
});
const admin = useAdministration(() => ({ database }));
afterAll(() => database.drop());

const read = async (path: string) => (await admin.send(`GET /admin/${path}`)).json;
const fetchStatus = async ({ key }: IssuedKey) => (await send(`${admin.store.url}/v1/pets`, { key })).status;
/** Returns a time of the service's clock, which in this test is close to the time of the database. */
const instant = (offsetMs: number) => new Date(admin.store.clock.now() + offsetMs).toISOString();
const hoursFromNow = (time: string) => Math.abs(Date.parse(time) - admin.store.clock.now()) / HOUR_MS;

describe('a database whose time zone is that of New York', () => {
  it('ends a rotated key without an overlap at once', async () => {
    const old = await admin.issue();
    expect(await fetchStatus(old)).toBe(200);
    const rotated = await admin.send(`POST /admin/keys/${old.id}/rotate`, { overlapSeconds: 0 });
    await eventually(async () => expect(await fetchStatus(old)).toBe(401));
    expect(await fetchStatus(rotated.json)).toBe(200);
    expect((await read(`keys/${old.id}`)).state).toBe('expired');
  });

  it('stores the instant at which a key expires, and filters by it', async () => {
    const expiresAt = instant(HOUR_MS);
    const { id } = await admin.issue({ name: 'expiring', expiresAt });
    expect((await read(`keys/${id}`)).expiresAt).toBe(expiresAt);
    const [stored] = await database.query('SELECT expires_at FROM api_keys WHERE id = $1', [id]);
    expect(stored?.['expires_at']).toEqual(new Date(expiresAt));
    const before = (offsetMs: number) => read(`keys?search=expiring&expiresBefore=${instant(offsetMs)}`);
    expect(await before(HOUR_MS / 2)).toStrictEqual([]);
    expect(await before(2 * HOUR_MS)).toMatchObject([{ id, expiresAt }]);
  });

  it('records the times of requests and of audit events, and filters by them', async () => {
    const key = await admin.issue();
    await fetchStatus(key);
    await admin.store.app.get(UsageRecorder).flush();
    expect(hoursFromNow((await read(`keys/${key.id}`)).lastUsedAt)).toBeLessThan(1 / 2);

    const since = (offsetMs: number) => read(`audit?keyId=${key.id}&since=${instant(offsetMs)}`);
    expect(await since(-HOUR_MS / 2)).toMatchObject([{ action: 'key.issued' }]);
    expect(await since(HOUR_MS / 2)).toStrictEqual([]);
    const [{ createdAt }] = await since(-HOUR_MS / 2);
    expect(hoursFromNow(createdAt)).toBeLessThan(1 / 2);
  });
});
