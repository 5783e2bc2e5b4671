import { DAY_MS } from '../support/time/clock.js';
import { ban } from '../support/keys/bans.js';
import { hold } from '../support/database/holding.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { useAdministration } from '../support/keys/administration.js';
import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { rowsRead } from '../support/database/rows-read.js';
import { expectError } from '../support/http/expectations.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';

const ROWS = 40_000;

describe('administration of large and damaged tables', () => {
  const admin = useAdministration();

  beforeAll(async () => {
    // A counter of an anonymous client for each address, and more bans than a statement can have parameters.
    await admin.store.database.query(
      `INSERT INTO rate_limit_counters
         (bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, last_allowed,
           banned_until)
       SELECT 'address:' || n, 0, 0, 300, 0, 0, 0, NULL FROM generate_series(1, $1::int) n
       UNION ALL
       SELECT 'quota:' || gen_random_uuid(), 0, 0, 60, 0, 0, 0, now() + '1 day'
       FROM generate_series(1, $1::int)`,
      [ROWS],
    );
    await admin.store.database.query('ANALYZE rate_limit_counters');
  });

  it('returns banned and other keys among 40,000 bans', async () => {
    const banned = await admin.issue({ name: 'banned' });
    await ban(admin.store.database, banned, new Date('2999-01-01T00:00:00Z'));
    expect((await admin.send('GET /admin/keys?banned=true')).json).toMatchObject([{ id: banned.id }]);
    expect((await admin.send('GET /admin/keys?banned=false')).json).toMatchObject([
      { id: admin.administrator.id },
    ]);
  });

  it('finds bans by their index', async () => {
    await admin.store.database.query('UPDATE rate_limit_counters SET banned_until = NULL');
    await admin.store.database.query('VACUUM ANALYZE rate_limit_counters');
    const plan = await admin.store.database.query(
      'EXPLAIN SELECT bucket_key, banned_until FROM rate_limit_counters WHERE banned_until > now()',
    );
    expect(JSON.stringify(plan)).toMatch(/^(?!.*Seq Scan).*rate_limit_counters_banned_until_idx/);
  });

  it('returns and repairs a quota that was left without limits by SQL', async () => {
    const { id, key, quotaId } = await admin.issue();
    await admin.store.database.query("UPDATE quotas SET plan = 'enterprise' WHERE id = $1", [quotaId]);
    const without = { id, plan: 'enterprise', perMinute: null, perDay: null };
    expect(await admin.send(`GET /admin/keys/${id}`)).toMatchObject({ status: 200, json: without });
    expect((await admin.send('GET /admin/keys?plan=enterprise')).json).toContainEqual(
      expect.objectContaining(without),
    );
    expect((await admin.send(`GET /admin/quotas/${quotaId}/rate-limit`)).json).toEqual({
      plan: 'enterprise',
      windows: [],
      denialsUntilBan: null,
      bannedUntil: null,
    });
    expect(await admin.send(`PATCH /admin/quotas/${quotaId}`, { plan: 'free' })).toMatchObject({
      status: 200,
      json: { plan: 'free', perMinute: 60, perDay: 1000 },
    });
    expect((await admin.send('GET /admin/audit?limit=1')).json).toMatchObject([
      { action: 'quota.updated', before: { perMinute: null, perDay: null }, after: { perMinute: 60 } },
    ]);
    expect((await send(`${admin.store.url}/v1/pets`, { key })).status).toBe(200);
  });

  it('waits at most a second for a lock, so other requests still get connections', async () => {
    const { id, quotaId } = await admin.issue();
    const lock = `SELECT 1 FROM quotas WHERE id = '${quotaId}' FOR UPDATE`;
    const holder = await hold(admin.store.database.url, lock);
    // More requests than the pool has connections.
    const revocations = Promise.all(
      Array.from({ length: 12 }, () => admin.send(`POST /admin/keys/${id}/revoke`)),
    );
    const listed = await admin.send('GET /v1/pets');
    const rejected = await revocations;
    await holder.letGo();
    expect(listed.status).toBe(200);
    for (const response of rejected) {
      expectError(response, 503, 'service_unavailable');
    }
    expect((await admin.send(`POST /admin/keys/${id}/revoke`)).json).toMatchObject({ state: 'revoked' });
  });
});

const TABLES = ['api_keys', 'quotas', 'usage'] as const;

describe('a page of 100,000 keys', () => {
  const KEYS = 100_000;
  let database: TestDatabase;

  /** Four of five of these keys are used on each of three days. */
  beforeAll(async () => {
    database = await createDatabase();
    for (const statement of [
      `INSERT INTO quotas (id, plan) SELECT md5('q' || n)::uuid, 'free' FROM generate_series(1, ${KEYS}) n`,
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, expires_at, created_at)
       SELECT md5(n::text)::uuid, md5('q' || n)::uuid, 'many ' || md5('n' || n), sha256(n::text::bytea),
         'ask_test_', '0000',
         timestamptz '2990-01-01' + n * interval '1 hour', '2025-01-01'
       FROM generate_series(1, ${KEYS}) n`,
      `INSERT INTO usage
       SELECT md5(n::text)::uuid, md5('q' || n)::uuid, 'day', day, 'listPets', false, 1, 0, 0, 0, 0,
         day + n * interval '0.8 s'
       FROM generate_series(1, ${0.8 * KEYS}) n,
         generate_series(timestamptz '2026-03-01', '2026-03-03', '1 day') day`,
      'VACUUM ANALYZE',
    ]) {
      await database.query(statement);
    }
  });
  afterAll(() => database.drop());

  /** Returns how many rows PostgreSQL has read so far, of all that belong to keys. */
  async function rowsOfKeys(): Promise<number> {
    const rows = await Promise.all(TABLES.map((table) => rowsRead(database, table)));
    return rows.reduce((sum, { scanned, byIndex }) => sum + scanned + byIndex, 0);
  }

  it.each([
    ...['createdAt', '-createdAt', 'name', '-lastUsedAt', 'expiresAt', 'state'].map((sort) => `sort=${sort}`),
    'unusedSince=2026-01-01T00:00:00Z',
    'expiresBefore=2999-01-01T00:00:00Z',
  ])('reads at most twenty rows for each key, with their number: %s', async (query) => {
    const before = await rowsOfKeys();
    const reader = await startApplication({ database });
    try {
      const { key } = await reader.issue({ role: 'admin' });
      let path = `/admin/keys?limit=100&search=many&${query}`;
      for (let page = 1; page <= 2; page += 1) {
        // On a busy machine a statement may run into its timeout, and its rows are read again.
        const response = await eventually(async () => {
          const sent = await send(reader.url + path, { key });
          expect(sent.status).not.toBe(503);
          return sent;
        });
        expect([response.status, response.json.length]).toEqual([200, 100]);
        expect(Number(response.headers.get('x-total-count'))).toBeGreaterThanOrEqual(20_000);
        path = parseLinks(response)['next'] ?? '';
      }
    } finally {
      await reader.close();
    }
    // Three to eight, if no statement is repeated.
    expect((await rowsOfKeys()) - before).toBeLessThan(2 * 20 * KEYS);
  });

  it('is counted for a page of plans by one read of each key and quota', async () => {
    const [keysBefore, quotasBefore] = [
      await rowsRead(database, 'api_keys'),
      await rowsRead(database, 'quotas'),
    ];
    const reader = await startApplication({ database });
    const { key } = await reader.issue({ role: 'admin' });
    const { json } = await send(`${reader.url}/admin/plans`, { key });
    await reader.close();
    const [keys, quotas] = [await rowsRead(database, 'api_keys'), await rowsRead(database, 'quotas')];
    const keysRead = keys.scanned + keys.byIndex - keysBefore.scanned - keysBefore.byIndex;
    expect(keysRead).toBeLessThan(1.01 * KEYS);
    const quotasRead = quotas.scanned + quotas.byIndex - quotasBefore.scanned - quotasBefore.byIndex;
    expect(quotasRead).toBeLessThan(1.01 * KEYS);
    const [stored] = await database.query<{ count: number }>('SELECT count(*)::int FROM api_keys');
    expect(json).toContainEqual(expect.objectContaining({ name: 'free', validKeyCount: stored?.count }));
  });
});

describe('reports of usage, with 84,000 rows of hours', () => {
  const KEYS = 100;

  it('read hardly more rows than they sum', async () => {
    const database = await createDatabase();
    await database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, denied, last_request_at)
       SELECT key_id, key_id, 'hour', starts_at, 'listPets', false, 1, 0, 0, 0, 0, starts_at
       FROM generate_series(date_trunc('hour', now()) - interval '839 hours', now(), '1 hour') AS starts_at,
         (SELECT gen_random_uuid() AS key_id FROM generate_series(1, $1::int)) AS keys`,
      [KEYS],
    );
    await database.query('VACUUM ANALYZE usage');
    const before = await rowsRead(database, 'usage');
    const reader = await startApplication({ database });
    const { key, id } = await reader.issue({ plan: 'business', role: 'admin' });
    const [row] = await database.query<{ used: string }>('SELECT key_id AS used FROM usage LIMIT 1');
    const yesterday = new Date(Date.now() - DAY_MS).toISOString();
    const position = encodeCursor(`${yesterday}|${row?.used}|listPets|false`);
    for (const path of [
      '/admin/usage?period=hour&limit=100',
      `/admin/usage?period=hour&limit=100&cursor=${position}`,
      `/admin/keys/${id}/usage?period=hour&cursor=${position}`,
      '/admin/usage/totals?period=hour',
      `/admin/usage/totals?period=hour&keyId=${row?.used}`,
      `/admin/usage/top?period=hour&since=${yesterday}`,
      `/admin/usage/operations?period=hour&keyId=${row?.used}&since=${yesterday}`,
      `/admin/usage/operations?period=hour&keyId=${id}`,
      '/v1/usage?period=hour',
      '/v1/usage?period=hour&by=operation',
      '/v1/usage?period=hour&by=key',
    ]) {
      expect([path, (await send(`${reader.url}${path}`, { key })).status]).toEqual([path, 200]);
    }
    await reader.close();
    const after = await rowsRead(database, 'usage');
    // One row of the test itself, and 21 hours and a day of all keys.
    expect(after.scanned - before.scanned).toBeLessThanOrEqual(1);
    expect(after.byIndex - before.byIndex).toBeGreaterThan(KEYS * (21 + 23));
    expect(after.byIndex - before.byIndex).toBeLessThan(KEYS * 50);
    await database.drop();
  });
});
