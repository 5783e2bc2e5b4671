import { createHash } from 'node:crypto';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { addKeys } from '../support/keys/keys.js';
import { changingNothing } from '../support/database/stored-state.js';
import { startApplication } from '../support/service/application.js';
import { HOUR_MS, SECOND_MS } from '../support/time/clock.js';

const MESSAGE = 'The API key is suspended; ask an administrator to resume it.';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

afterEach(() => admin.store.clock.goOn());

const call = ({ key }: Pick<IssuedKey, 'key'>, request = 'GET /v1/pets', body?: unknown) => {
  const [method = '', path = ''] = request.split(' ');
  return send(admin.store.url + path, { method, key, body });
};
const setSuspended = ({ id }: { id: string }, suspended: unknown) =>
  sendAsAdmin(`PATCH /admin/keys/${id}`, { suspended });
const suspend = (key: { id: string }) => setSuspended(key, true);
const resume = (key: { id: string }) => setSuspended(key, false);
const find = async ({ id }: { id: string }) => (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const rotate = ({ id }: { id: string }, body?: unknown) => sendAsAdmin(`POST /admin/keys/${id}/rotate`, body);
const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);
const listAuditEvents = async ({ id }: { id: string }) =>
  (await sendAsAdmin(`GET /admin/audit?keyId=${id}`)).json.map(
    ({ action, before, after }: Record<string, unknown>) => [action, before, after],
  );
const issueHolder = () => issue({ plan: 'pro', scopes: ['pets:read', 'keys:write'] });

describe('PATCH /admin/keys/{id} with suspended', () => {
  it('returns 200, and the key gets 401 until it is resumed', async () => {
    const key = await issue();
    expect((await call(key)).status).toBe(200);
    const { status, json } = await suspend(key);
    expect([status, json.state, json.suspendedAt]).toEqual([200, 'suspended', expect.stringMatching(/Z$/)]);
    const denied = await eventually(async () => {
      const response = await call(key);
      expectError(response, 401, 'invalid_api_key', MESSAGE);
      return response;
    });
    expect(denied.headers.get('www-authenticate')).toContain('error="invalid_token"');
    // It is counted for the address, as that of another invalid key.
    expect(denied.headers.get('x-ratelimit-limit')).toBe('300');
    expectError(await call(key, 'GET /v1/key'), 401, 'invalid_api_key', MESSAGE);
    const resumed = await resume(key);
    expect(resumed.json).toMatchObject({ state: 'active', suspendedAt: null });
    await eventually(async () => expect((await call(key)).status).toBe(200));
  });

  it('takes effect on every replica within a second, both ways', async () => {
    const { database, clock } = admin.store;
    const replica = await startApplication({ database, clock });
    const key = await issue();
    const statusThere = async () => (await send(`${replica.url}/v1/pets`, { key: key.key })).status;
    expect(await statusThere()).toBe(200);
    await suspend(key);
    await eventually(async () => expect(await statusThere()).toBe(401), SECOND_MS);
    await resume(key);
    await eventually(async () => expect(await statusThere()).toBe(200), SECOND_MS);
    await replica.close();
  });

  it('records each change once, and none for what is as it was', async () => {
    const key = await issue();
    const { json: first } = await suspend(key);
    expect((await unchanged(() => suspend(key))).json).toEqual(first);
    await resume(key);
    await unchanged(() => resume(key));
    await sendAsAdmin(`PATCH /admin/keys/${key.id}`, { suspended: true, note: 'unpaid' });
    const { suspendedAt } = first;
    expect(await listAuditEvents(key)).toEqual([
      ['key.suspended', { suspendedAt: null }, { suspendedAt: expect.any(String) }],
      ['key.updated', { note: null }, { note: 'unpaid' }],
      ['key.resumed', { suspendedAt }, { suspendedAt: null }],
      ['key.suspended', { suspendedAt: null }, { suspendedAt }],
      ['key.issued', null, expect.anything()],
    ]);
  });

  it.each([null, 1, 'true'])('returns 400 and changes nothing for %j', async (suspended) => {
    const key = await issue();
    expectInvalid(await unchanged(() => setSuspended(key, suspended)), 'suspended must be true or false');
  });

  it('returns 409 and changes nothing for a key that has ended', async () => {
    const [revoked, expired, ...suspended] = [
      await issue(),
      await issue({ expiresAt: new Date(admin.store.clock.now() + HOUR_MS) }),
      await issue(),
      await issue({ expiresAt: new Date(admin.store.clock.now() + HOUR_MS) }),
    ];
    await Promise.all(suspended.map(suspend));
    await sendAsAdmin(`POST /admin/keys/${revoked.id}/revoke`);
    await sendAsAdmin(`POST /admin/keys/${suspended[0].id}/revoke`);
    admin.store.clock.travel(HOUR_MS);
    for (const [key, end] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
      [suspended[0], 'revoked'],
      [suspended[1], 'expired'],
    ] as const) {
      for (const [change, verb] of [
        [suspend, 'suspended'],
        [resume, 'resumed'],
      ] as const) {
        const response = await unchanged(() => change(key));
        expectError(response, 409, 'conflict', `The key is ${end}, so it cannot be ${verb}.`);
      }
    }
  });
});

describe('a suspended key', () => {
  it('expires all the same', async () => {
    const key = await issue({ expiresAt: new Date(admin.store.clock.now() + HOUR_MS) });
    await suspend(key);
    expect((await find(key)).expiresAt).toBe(key.expiresAt);
    admin.store.clock.travel(HOUR_MS);
    expect((await find(key)).state).toBe('expired');
    expectError(await call(key), 401, 'invalid_api_key', 'The API key has expired.');
  });

  it('is not found by a release without suspension, which reads keys by their hash', async () => {
    const key = await issue();
    const hash = createHash('sha256').update(key.key).digest();
    const byHash = () => admin.store.database.query('SELECT id FROM api_keys WHERE hash = $1', [hash]);
    await suspend(key);
    expect(await byHash()).toEqual([]);
    await resume(key);
    expect(await byHash()).toEqual([{ id: key.id }]);
  });

  it('leaves what it issued and its successor as they are', async () => {
    const holder = await issueHolder();
    const issued = (await call(holder, 'POST /v1/keys', { name: 'Stock sync' })).json;
    const successor = (await rotate(holder)).json;
    await suspend(holder);
    for (const key of [issued, successor]) {
      expect((await call(key)).status).toBe(200);
    }
  });

  it('neither rotates itself nor issues keys', async () => {
    const holder = await issueHolder();
    await suspend(holder);
    for (const [request, body] of [
      ['POST /v1/key/rotate', {}],
      ['POST /v1/key/rotate', { leaked: true }],
      ['POST /v1/keys', { name: 'x' }],
    ] as const) {
      expectError(await unchanged(() => call(holder, request, body)), 401, 'invalid_api_key', MESSAGE);
    }
  });

  it('is rotated by an administrator, and its successor is not suspended', async () => {
    const key = await issue();
    await suspend(key);
    const { status, json } = await rotate(key, { overlapSeconds: 3600 });
    expect([status, json.state, json.suspendedAt]).toEqual([201, 'active', null]);
    expect((await call(json)).status).toBe(200);
    expectError(await call(key), 401, 'invalid_api_key', MESSAGE);
    expect((await resume(key)).json.state).toBe('rotating');
    await eventually(async () => expect((await call(key)).status).toBe(200));
  });

  it('gets no new key by a leaked predecessor, which is revoked with it', async () => {
    const old = await issue();
    const successor = (await rotate(old)).json;
    await suspend(successor);
    const response = await call(old, 'POST /v1/key/rotate', { leaked: true });
    expectError(response, 409, 'conflict');
    expect(response.json.message).toContain('it, or its newest successor, was suspended');
    expect((await find(successor)).state).toBe('revoked');
  });

  it('is revoked, restricted and renamed as others, by the key itself too', async () => {
    const [key, leaked] = [await issueHolder(), await issueHolder()];
    const issued = (await call(key, 'POST /v1/keys', { name: 'x' })).json;
    await Promise.all([key, leaked, issued].map(suspend));
    await sendAsAdmin(`PATCH /admin/keys/${key.id}`, { name: 'Bob', allowedNetworks: ['203.0.113.0/24'] });
    expect(await find(key)).toMatchObject({ name: 'Bob', state: 'suspended' });
    expect((await find(issued)).allowedNetworks).toEqual(['203.0.113.0/24']);
    expect((await sendAsAdmin('POST /admin/keys/revoke', { key: leaked.key })).json).toMatchObject({
      id: leaked.id,
      state: 'revoked',
    });
    await sendAsAdmin('POST /admin/keys/revoke', { key: key.key });
    expect([(await find(key)).state, (await find(issued)).state]).toEqual(['revoked', 'revoked']);
    expectError(await call(key), 401, 'invalid_api_key', 'The API key was revoked.');
  });

  it('is listed by its state, is not valid, and keeps its room on the quota', async () => {
    const key = await issue({ plan: 'pro' });
    await suspend(key);
    const { quotaId, id } = key;
    const listed = await sendAsAdmin(`GET /admin/keys?quotaId=${quotaId}&state=suspended`);
    expect(listed.json).toEqual([expect.objectContaining({ id, state: 'suspended' })]);
    expect((await sendAsAdmin(`GET /admin/quotas/${quotaId}`)).json.validKeyCount).toBe(0);
    await addKeys(admin.store.database, quotaId, 19);
    const full = await sendAsAdmin('POST /admin/keys', { name: 'x', quotaId });
    expectError(full, 409, 'conflict');
    expect((await resume(key)).json.state).toBe('active');
    expect((await sendAsAdmin(`GET /admin/quotas/${quotaId}`)).json.validKeyCount).toBe(20);
  });
});
