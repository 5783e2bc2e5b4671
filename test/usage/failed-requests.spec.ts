import { randomUUID } from 'node:crypto';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { FailedRequestCleanup } from '../../src/usage/failed-requests/failed-request.cleanup.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import type { AdminFailedRequest } from '../../src/usage/failed-requests/failed-request.schemas.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { type Init, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { useAdministration } from '../support/keys/administration.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { DAY_MS, MINUTE_MS } from '../support/time/clock.js';

/** Stands for no quota. */
const NIL = '00000000-0000-0000-0000-000000000000';
const HALF_PAST = new Date('2027-03-05T12:34:30.000Z');

describe('requests that failed', () => {
  const admin = useAdministration();
  let key: IssuedKey;

  beforeEach(async () => {
    admin.store.clock.travelTo(HALF_PAST);
    key = await admin.store.issue({ ...UNLIMITED, name: "Ann's shop" });
  });

  const call = (target: string, options: Init = {}, store: TestApplication = admin.store) =>
    send(store.url + target, { key: key.key, ...options });
  const recorded = (store: TestApplication = admin.store) => store.app.get(FailedRequestRecorder).flush();

  async function list(query = ''): Promise<AdminFailedRequest[]> {
    await recorded();
    const { status, json } = await admin.send(`GET /admin/requests?quotaId=${key.quotaId}&${query}`);
    expect(status).toBe(200);
    return json;
  }

  it('are found by their X-Request-Id, with what their client got', async () => {
    const requestId = randomUUID();
    const response = await call('/v1/pets?status=dead', { headers: { 'X-Request-Id': requestId } });
    expect(response.status).toBe(400);
    await recorded();
    const { json, headers } = await admin.send(`GET /admin/requests?requestId=${requestId}`);
    expect(headers.get('X-Missing-Count')).toBe('0');
    expect(json).toEqual([
      {
        requestId,
        requestedAt: expect.stringMatching(/^2027-03-05T12:34:3/),
        method: 'GET',
        path: '/v1/pets',
        operation: 'listPets',
        status: 400,
        code: 'invalid_request',
        message: response.json.message,
        durationMs: expect.any(Number),
        keyId: key.id,
        keyName: "Ann's shop",
        prefix: key.prefix,
        lastFour: key.lastFour,
        quotaId: key.quotaId,
        plan: key.plan,
        externalId: null,
        clientAddress: '127.0.0.1',
      },
    ]);
  });

  it('are shown to holders of keys of the quota alone, without the address', async () => {
    const requestId = randomUUID();
    await call('/v1/pets/9999999', { headers: { 'X-Request-Id': requestId } });
    const other = await admin.store.issue(UNLIMITED);
    await recorded();
    const [found] = (await call(`/v1/requests?requestId=${requestId}`)).json;
    expect(found).toMatchObject({ requestId, status: 404, code: 'not_found', keyId: key.id });
    expect(Object.keys(found).filter((name) => /address|quota|plan|external/i.test(name))).toEqual([]);
    expect((await call(`/v1/requests/${requestId}`)).json).toEqual(found);
    expect((await call('/v1/requests', { key: other.key })).json).toEqual([]);
    const denied = await call(`/v1/requests/${requestId}`, { key: other.key });
    expect([denied.status, denied.json.code]).toEqual([404, 'not_found']);
  });

  it('are those with 4xx and 5xx, even without a valid key, and no others', async () => {
    const ids = { unknown: randomUUID(), served: randomUUID(), health: randomUUID() };
    await call('/v1/pets', { key: `${key.key}x`, headers: { 'X-Request-Id': ids.unknown } });
    await call('/v1/pets', { headers: { 'X-Request-Id': ids.served } });
    await call('/docs/nothing', { headers: { 'X-Request-Id': ids.health } });
    await recorded();
    const find = async (id: string) => (await admin.send(`GET /admin/requests?requestId=${id}`)).json;
    expect(await find(ids.unknown)).toMatchObject([
      { status: 401, code: 'invalid_api_key', keyId: null, quotaId: null, plan: null, prefix: null },
    ]);
    expect(await find(ids.served)).toEqual([]);
    expect(await find(ids.health)).toEqual([]);
  });

  it.each([
    ['suspended', 'is suspended; ask an administrator to resume it'],
    ['revoked', 'was revoked'],
    ['expired', 'has expired'],
  ])(
    'with a key that is %s are kept with it, and shown to holders of its quota alone',
    async (state, why) => {
      const { clock } = admin.store;
      const expiresAt = state === 'expired' ? new Date(HALF_PAST.getTime() + MINUTE_MS) : undefined;
      const denied = await admin.store.issue({
        ...UNLIMITED,
        name: 'Stock sync',
        quotaId: key.quotaId,
        expiresAt,
      });
      const changes = {
        suspended: () => admin.send(`PATCH /admin/keys/${denied.id}`, { suspended: true }),
        revoked: () => admin.send(`POST /admin/keys/${denied.id}/revoke`),
        expired: () => clock.travelTo(new Date(HALF_PAST.getTime() + 2 * MINUTE_MS)),
      };
      await changes[state as keyof typeof changes]();
      const { status, headers, json } = await call('/v1/pets', { key: denied.key });
      expect([status, json.message]).toEqual([401, `The API key ${why}.`]);
      // The caller learns nothing of the key, and the request counts for its address.
      const told = JSON.stringify([...headers, json]);
      for (const secret of [denied.id, key.quotaId, key.plan]) {
        expect(told).not.toContain(secret);
      }
      expect(headers.get('X-RateLimit-Limit')).toBe('300');
      const requestId = headers.get('X-Request-Id');
      const kept = { requestId, code: 'invalid_api_key', keyId: denied.id, keyName: 'Stock sync' };
      expect(await list(`requestId=${requestId}`)).toMatchObject([{ ...kept, quotaId: key.quotaId }]);
      expect((await call(`/v1/requests?keyId=${denied.id}`)).json).toMatchObject([kept]);
      const other = await admin.store.issue(UNLIMITED);
      expect((await call(`/v1/requests?requestId=${requestId}`, { key: other.key })).json).toEqual([]);
    },
  );

  it('are filtered by the external id of their quota, which each shows, and so are the missing', async () => {
    await admin.send(`PATCH /admin/quotas/${key.quotaId}`, { externalId: 'customer-7' });
    const second = await admin.store.issue(UNLIMITED);
    await admin.send(`PATCH /admin/quotas/${second.quotaId}`, { externalId: 'customer-7' });
    const other = await admin.store.issue(UNLIMITED);
    await admin.send(`PATCH /admin/quotas/${other.quotaId}`, { externalId: 'customer-70' });
    await call('/v1/pets?limit=0');
    await call('/v1/pets/9999999', { key: second.key });
    await call('/v1/pets?limit=0', { key: other.key });
    await call('/v1/pets', { key: 'none' });
    await recorded();
    await admin.store.database.query(
      `UPDATE failed_request_minutes SET total = total + CASE quota_id WHEN $1 THEN 3 ELSE 4 END
       WHERE quota_id IN ($1, $2)`,
      [second.quotaId, other.quotaId],
    );
    const find = (query: string) => admin.send(`GET /admin/requests?${query}`);
    const { json, headers } = await find('externalId=customer-7&limit=1');
    expect(json).toMatchObject([{ keyId: second.id, externalId: 'customer-7', status: 404 }]);
    expect(headers.get('X-Missing-Count')).toBe('3');
    const next = parseLinks({ headers })['next'] ?? '';
    expect((await admin.send(`GET ${next}`)).json).toMatchObject([{ keyId: key.id, status: 400 }]);
    expect((await find(`externalId=customer-7&quotaId=${key.quotaId}`)).json).toHaveLength(1);
    expect((await find(`externalId=customer-7&quotaId=${other.quotaId}`)).json).toEqual([]);
    expect((await find('externalId=nobody')).json).toEqual([]);
    expectError(await find('externalId='), 400, 'invalid_request');
  });

  it('have neither keys nor the query, and what a client sent does not stop their record', async () => {
    await call(`/v1/${key.key}/\u00e9?secret=1`);
    await call('/v1/pets', { method: 'POST', body: '{"name": "\\u0000\\ud800", "categoryId": "7"}' });
    // The cut of a long message may divide a character.
    for (const first of ['', 'a']) {
      const id = first + '\u{1f600}'.repeat(1000);
      expect((await admin.send(`GET /admin/keys/${encodeURIComponent(id)}`)).status).toBe(404);
    }
    const found = await list();
    expect(found).toHaveLength(2);
    const { json } = await admin.send(`GET /admin/requests?status=404&keyId=${admin.administrator.id}`);
    expect(json.map(({ message }: AdminFailedRequest) => message.length)).toEqual([2000, 2000]);
    expect(JSON.stringify(found)).not.toContain(key.key.slice(4));
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  it('are filtered by status, code, key and time, newest first, page by page', async () => {
    await call('/v1/pets?status=dead');
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + MINUTE_MS));
    await call('/v1/nothing');
    await call('/v1/pets', { method: 'PUT' });
    const codes = async (query: string) => (await list(query)).map(({ code }) => code);
    expect((await codes('')).at(-1)).toBe('invalid_request');
    expect(await codes('status=404')).toEqual(['not_found']);
    expect(await codes('code=method_not_allowed')).toEqual(['method_not_allowed']);
    expect(await codes(`until=${new Date(HALF_PAST.getTime() + MINUTE_MS / 2).toISOString()}`)).toEqual([
      'invalid_request',
    ]);
    expect(await codes(`since=${new Date(HALF_PAST.getTime() + MINUTE_MS / 2).toISOString()}`)).toHaveLength(
      2,
    );
    expect(await codes(`keyId=${randomUUID()}`)).toEqual([]);
    for (const until of [HALF_PAST, new Date(HALF_PAST.getTime() - 1)]) {
      const range = `since=${HALF_PAST.toISOString()}&until=${until.toISOString()}`;
      expectInvalid(await admin.send(`GET /admin/requests?${range}`), 'since must be before until');
    }
    const first = await admin.send(`GET /admin/requests?quotaId=${key.quotaId}&limit=2`);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('Link') ?? '')?.[1];
    expect((await admin.send(`GET ${next}`)).json).toMatchObject([{ code: 'invalid_request' }]);
  });

  it('are kept up to 60 a minute for a quota by all replicas; a header counts the missing', async () => {
    const { database, clock } = admin.store;
    const replica = await startApplication({ database, clock });
    try {
      for (const store of [admin.store, replica]) {
        for (let sent = 0; sent < 40; sent += 1) {
          await call('/v1/nothing', {}, store);
        }
      }
      await Promise.all([recorded(), recorded(replica)]);
      const { json, headers } = await admin.send(`GET /admin/requests?quotaId=${key.quotaId}&limit=100`);
      expect(json).toHaveLength(60);
      expect(headers.get('X-Missing-Count')).toBe('20');
      expect((await call('/v1/requests?limit=1')).headers.get('X-Missing-Count')).toBe('20');
    } finally {
      await replica.close();
    }
  });

  it('take 60 rows a minute of a flood by a quota, or without a key, and are all counted', async () => {
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + 8 * MINUTE_MS));
    const narrow = await admin.store.issue({ plan: 'enterprise', perMinute: 5, perDay: 1000 });
    const flood = async (options: Init) => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => call('/v1/pets', options)));
      return responses.filter(({ status }) => status >= 400).length;
    };
    const [ofQuota, anonymous] = [await flood({ key: narrow.key }), await flood({ key: undefined })];
    expect([ofQuota, anonymous]).toEqual([95, 100]);
    await recorded();
    const count = `SELECT (SELECT count(*)::int FROM failed_requests WHERE quota_id IS NOT DISTINCT FROM $1
        AND requested_at >= $3) AS rows,
      (SELECT sum(total)::int FROM failed_request_minutes WHERE quota_id = coalesce($1, $2)
        AND starts_at >= $3) AS total`;
    const counts = (quotaId: string | null) =>
      admin.store.database.query(count, [quotaId, NIL, new Date(HALF_PAST.getTime() + 7 * MINUTE_MS)]);
    expect(await counts(narrow.quotaId)).toEqual([{ rows: 60, total: 95 }]);
    expect(await counts(null)).toEqual([{ rows: 60, total: 100 }]);
  });

  it('of a key that is denied hide none of its quota, however many they are', async () => {
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + 6 * MINUTE_MS));
    const { key: denied, id } = await admin.store.issue({ ...UNLIMITED, quotaId: key.quotaId });
    await call('/v1/pets', { key: denied });
    await admin.send(`POST /admin/keys/${id}/revoke`);
    await eventually(async () => expect((await call('/v1/pets', { key: denied })).status).toBe(401));
    const tooLarge = { method: 'POST', body: `"${'a'.repeat(65_536)}"`, key: denied };
    for (const init of [{ key: denied }, tooLarge]) {
      await Promise.all(Array.from({ length: 61 }, () => call('/v1/pets', init)));
    }
    await call('/v1/nothing');
    await recorded();
    const find = (query: string) => admin.send(`GET /admin/requests?quotaId=${key.quotaId}&${query}`);
    const { json, headers } = await find('code=not_found');
    expect(json).toMatchObject([{ path: '/v1/nothing', keyId: key.id }]);
    expect(headers.get('X-Missing-Count')).toBe('0');
    expect((await find('code=invalid_api_key&limit=1')).json).toMatchObject([{ keyId: id }]);
  });

  it('are all kept if their client sends one X-Request-Id again; the newest is found by it', async () => {
    const headers = { 'X-Request-Id': `again-${randomUUID()}` };
    await call('/v1/pets/9999999', { headers });
    await call('/v1/pets?limit=0', { headers });
    await recorded();
    const { json } = await admin.send(`GET /admin/requests?requestId=${headers['X-Request-Id']}`);
    expect(json.map(({ status }: AdminFailedRequest) => status)).toEqual([400, 404]);
    expect((await call(`/v1/requests/${headers['X-Request-Id']}`)).json.status).toBe(400);
  });

  it('are not found by an id that no request can have', async () => {
    for (const id of ['%00', 'a%0Ab', '%E2%80%AE']) {
      expectError(await call(`/v1/requests/${id}`), 404, 'not_found');
      expectInvalid(await admin.send(`GET /admin/requests?requestId=${id}`), /^requestId /);
    }
  });

  it.each(['0000-01-01T00:00:00.000Z', '-000001-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z', 'x'])(
    'are not listed from a cursor at %s, which the database cannot compare',
    async (at) => {
      const cursor = encodeCursor(`${at}|${randomUUID()}`);
      expectInvalid(await call(`/v1/requests?cursor=${cursor}`), /^cursor /);
      expectInvalid(await admin.send(`GET /admin/requests?cursor=${cursor}`), /^cursor /);
    },
  );

  it('have the message of their client, whatever refuses them', async () => {
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + 4 * MINUTE_MS));
    const refused = [
      await call('/v1/pets', { method: 'POST', body: `"${'a'.repeat(65_536)}"` }),
      await call('/v1/pets', { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } }),
      await call('/v1/pets', { method: 'DELETE' }),
      await call('/admin/keys'),
      await call('/v1/%ff%00/\ud800'),
      await call(`/v1/${'a'.repeat(5000)}`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([413, 415, 405, 403, 404, 404]);
    await recorded();
    for (const { headers, json } of refused) {
      const id = headers.get('X-Request-Id');
      const [kept] = (await admin.send(`GET /admin/requests?requestId=${id}`)).json;
      expect(kept).toMatchObject({
        status: json.status,
        code: json.code,
        // A body that is too large is refused before its key is looked up.
        keyId: json.status === 413 ? null : key.id,
      });
      expect(json.message.startsWith(kept.message.slice(0, 100).trim())).toBe(true);
    }
  });

  it('are recorded once, and none is lost, while the database fails and after it', async () => {
    const { database, clock } = admin.store;
    const proxy = await startDatabaseProxy(database.url);
    const environment = { DATABASE_URL: proxy.url };
    const replica = await startApplication({ database, clock, environment });
    try {
      await call('/v1/nothing', {}, replica);
      proxy.hang();
      await recorded(replica);
      await proxy.comeBack();
      await eventually(async () => {
        await recorded(replica);
        expect(await list()).toHaveLength(1);
      });
    } finally {
      await replica.close();
      proxy.close();
    }
  });

  it('are deleted once they are older than FAILED_REQUEST_RETENTION', async () => {
    await call('/v1/nothing');
    expect(await list()).toHaveLength(1);
    const cleanup = admin.store.app.get(FailedRequestCleanup);
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + DAY_MS - MINUTE_MS));
    await cleanup.deleteExpired();
    expect(await list()).toHaveLength(1);
    admin.store.clock.travelTo(new Date(HALF_PAST.getTime() + DAY_MS + 2 * MINUTE_MS));
    await cleanup.deleteExpired();
    expect(await list()).toEqual([]);
  });
});

describe('FAILED_REQUEST_RETENTION=0', () => {
  const admin = useAdministration({ environment: { FAILED_REQUEST_RETENTION: 0 } });

  it('records no failed request', async () => {
    const requestId = randomUUID();
    await send(`${admin.store.url}/v1/nothing`, {
      key: admin.administrator.key,
      headers: { 'X-Request-Id': requestId },
    });
    await admin.store.app.get(FailedRequestRecorder).flush();
    expect((await admin.send(`GET /admin/requests?requestId=${requestId}`)).json).toEqual([]);
  });
});
