import type { AuditEvent } from '../../src/audit/audit.schemas.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectInvalid, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { readPages } from '../support/http/pages.js';
import { useAdministration } from '../support/keys/administration.js';
import { addKeys, UNLIMITED } from '../support/keys/keys.js';
import { recordUsage } from '../support/keys/usage.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { DAY_MS } from '../support/time/clock.js';

const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
const SCOPES = ['pets:read', 'pets:write', 'keys:write'];
const ALL = ['pets:read', 'pets:write', 'orders:read', 'orders:write'];

const admin = useAdministration();

type Keyed = Pick<IssuedKey, 'id' | 'key'>;

const call = (
  { key }: Pick<Keyed, 'key'>,
  request: string,
  body?: unknown,
  init = {},
): Promise<HttpResponse> => {
  const [method = '', path = ''] = request.split(' ');
  return send(admin.store.url + path, { method, key, body, ...init });
};
const issueHolder = (input = {}): Promise<IssuedKey> =>
  admin.issue({ ...UNLIMITED, scopes: SCOPES, ...input });
const issueBy = (holder: Keyed, input = {}) => call(holder, 'POST /v1/keys', { name: 'team', ...input });
const find = async ({ id }: { id: string }) => (await admin.send(`GET /admin/keys/${id}`)).json;
const restrict = ({ id }: Keyed, body: unknown) => admin.send(`PATCH /admin/keys/${id}`, body);
const statusOf = async (key: Pick<Keyed, 'key'>) => (await call(key, 'GET /v1/pets')).status;
const listEvents = async ({ id }: { id: string }) => (await admin.send(`GET /admin/audit?keyId=${id}`)).json;

describe('POST /v1/keys', () => {
  it('issues a key on the quota of the holder, which shows it once, and counts with it', async () => {
    const holder = await issueHolder({ plan: 'pro', perMinute: undefined, perDay: undefined });
    const response = await issueBy(holder, { name: 'Stock sync' });
    expect(response.status).toBe(201);
    expect(response.json).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      name: 'Stock sync',
      scopes: ['pets:read', 'pets:write'],
      allowedNetworks: null,
      state: 'active',
      prefix: 'ask_test_',
      lastFour: response.json.key.slice(-4),
      createdAt: expect.any(String),
      expiresAt: null,
      revokedAt: null,
      suspendedAt: null,
      predecessorId: null,
      successorId: null,
      issuerId: holder.id,
    });
    expectRateLimitHeaders(response);
    expect(response.headers.get('x-stability')).toBe('beta');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('299');
    const used = await call(response.json, 'GET /v1/pets');
    expect(used.headers.get('x-ratelimit-remaining')).toBe('298');
    expect(await find(response.json)).toMatchObject({
      quotaId: holder.quotaId,
      plan: 'pro',
      role: 'client',
      issuerId: holder.id,
    });
    expectNoSecrets((await call(holder, 'GET /v1/keys')).text, [response.json.key]);
  });

  it('is recorded with the key of the holder as its actor', async () => {
    const holder = await issueHolder();
    const { json } = await issueBy(holder, { scopes: ['pets:read'] });
    expect(await listEvents(json)).toMatchObject([
      { actor: { id: holder.id }, action: 'key.issued', after: { name: 'team', scopes: ['pets:read'] } },
    ]);
  });

  it('takes scopes, networks and expiry within those of the holder, and its own by default', async () => {
    const expiresAt = new Date(admin.store.clock.now() + DAY_MS).toISOString();
    const holder = await issueHolder({ allowedNetworks: ['127.0.0.0/8'], expiresAt });
    expect((await issueBy(holder)).json).toMatchObject({
      scopes: ['pets:read', 'pets:write'],
      allowedNetworks: ['127.0.0.0/8'],
      expiresAt,
    });
    const sooner = new Date(admin.store.clock.now() + DAY_MS / 2).toISOString();
    const narrow = { scopes: ['pets:read'], allowedNetworks: ['127.0.0.1/32'], expiresAt: sooner };
    expect((await issueBy(holder, narrow)).json).toMatchObject(narrow);
  });

  it('expires with the longest life of the plan if the holder expires later', async () => {
    const plan = { perMinute: 100, perDay: 1000 };
    await admin.send('PUT /admin/plans/short-lived', plan);
    const expiresAt = new Date(admin.store.clock.now() + 30 * DAY_MS).toISOString();
    const limits = { plan: 'short-lived', perMinute: undefined, perDay: undefined };
    const holder = await issueHolder({ ...limits, expiresAt });
    await admin.send('PUT /admin/plans/short-lived', { ...plan, maxKeyLifetimeDays: 7 });
    const { status, json } = await issueBy(holder);
    expect(status).toBe(201);
    const daysUntilExpiry = (Date.parse(json.expiresAt) - admin.store.clock.now()) / DAY_MS;
    expect(daysUntilExpiry).toBeCloseTo(7, 2);
    expectInvalid(
      await issueBy(holder, { expiresAt }),
      /^expiresAt must not be after .* lives at most 7 days/,
    );
  });

  it('returns 400 that names every bound of the holder that the input exceeds', async () => {
    const expiresAt = new Date(admin.store.clock.now() + DAY_MS);
    const holder = await issueHolder({ allowedNetworks: ['127.0.0.0/8'], expiresAt });
    const later = new Date(expiresAt.getTime() + 1).toISOString();
    const wide = { scopes: ['orders:read'], allowedNetworks: null, expiresAt: later };
    expectInvalid(
      await issueBy(holder, wide),
      'scopes must be among those that your key may give: pets:read, pets:write; ' +
        'allowedNetworks must be within those of your key: 127.0.0.0/8; ' +
        `expiresAt must not be after that of your key: ${expiresAt.toISOString()}`,
    );
  });

  it.each([['keys:write'], ['admin:read'], ['pets:read', 'keys:write']])(
    'never issues a key with the scopes %s, even if the holder is an administrator',
    async (...scopes) => {
      const holder = await issueHolder({ role: 'admin', scopes: [...SCOPES, 'admin:read'] });
      expectInvalid(await issueBy(holder, { scopes }), /^scopes must be among/);
    },
  );

  it.each([
    [{ name: '' }, 'name must not be blank'],
    [{ name: undefined }, 'name is required'],
    [{ scopes: null }, /^scopes must be among/],
    [{ allowedNetworks: ['nowhere'] }, /^allowedNetworks.*must be a network/],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt must be in the future'],
    [{ expiresAt: 'tomorrow' }, /^expiresAt must be/],
  ])('returns 400 for %p', async (input, faults) => {
    expectInvalid(await issueBy(await issueHolder(), input), faults);
  });

  it('ignores fields that only administrators set', async () => {
    const holder = await issueHolder();
    const { json } = await issueBy(holder, {
      role: 'admin',
      note: 'x',
      plan: 'enterprise',
      quotaId: UNKNOWN_ID,
    });
    expect(await find(json)).toMatchObject({ role: 'client', note: null, quotaId: holder.quotaId });
  });

  it('returns 403 without the scope keys:write, which no key has unless it is named', async () => {
    for (const scopes of [null, ALL]) {
      expectError(await issueBy(await issueHolder({ scopes })), 403, 'insufficient_scope');
    }
    const { json } = await issueBy(await issueHolder());
    expectError(await issueBy(json), 403, 'insufficient_scope');
  });

  it('returns 409 for a holder that has no other scope', async () => {
    const response = await issueBy(await issueHolder({ scopes: ['keys:write'] }));
    expectError(
      response,
      409,
      'conflict',
      expect.stringMatching(/^Your key has no scope that it could give/),
    );
  });

  it('returns 400 with an Idempotency-Key, because the key is not stored', async () => {
    const init = { headers: { 'Idempotency-Key': 'a' } };
    const holder = await issueHolder();
    expectError(await call(holder, 'POST /v1/keys', { name: 'a' }, init), 400, 'invalid_request');
    expect((await call(holder, 'GET /v1/keys')).json).toEqual([]);
  });

  it('returns 409 at the twenty-first valid key of the quota, until one is revoked or expires', async () => {
    const holder = await issueHolder();
    const [first, second] = [(await issueBy(holder)).json, (await issueBy(holder)).json];
    await addKeys(admin.store.database, holder.quotaId, 17);
    const full =
      'The quota has 20 keys that are valid or suspended, the maximum: revoke one, or ask an administrator.';
    expectError(await issueBy(holder), 409, 'conflict', full);
    const { quotaId } = holder;
    expectError(await admin.send('POST /admin/keys', { name: 'x', quotaId }), 409, 'conflict', full);
    expectError(await call(holder, 'POST /v1/key/rotate'), 409, 'conflict', full);
    expect((await call(first, 'POST /v1/key/rotate', { leaked: true })).status).toBe(201);
    await call(holder, `POST /v1/keys/${second.id}/revoke`);
    expect((await issueBy(holder)).status).toBe(201);
    expectError(await issueBy(holder), 409, 'conflict', full);
  });
});

describe('the hundred-and-first key that a holder issues in a UTC day', () => {
  it('is denied with 409, whatever became of the others, but not to an administrator', async () => {
    const holder = await issueHolder();
    await admin.store.database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, revoked_at, issuer_id)
       SELECT gen_random_uuid(), $1, 'many', sha256(('y' || n)::bytea), 'ask_test_', '0000', now(), $2
       FROM generate_series(1, 99) n`,
      [holder.quotaId, holder.id],
    );
    expect((await issueBy(holder)).status).toBe(201);
    const denied = await issueBy(holder);
    expectError(denied, 409, 'conflict', expect.stringMatching(/issued 100 keys today/));
    expect((await admin.send('POST /admin/keys', { name: 'x', quotaId: holder.quotaId })).status).toBe(201);
  });
});

describe('a rotation of a key that a holder issued', () => {
  it('does not count as a key that the holder issues, even if it is repeated', async () => {
    const holder = await issueHolder();
    const { json: key } = await issueBy(holder);
    await admin.store.database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, revoked_at, issuer_id)
       SELECT gen_random_uuid(), $1, 'many', sha256(('z' || n)::bytea), 'ask_test_', '0000', now(), $2
       FROM generate_series(1, 98) n`,
      [holder.quotaId, holder.id],
    );
    for (let rotation = 0; rotation < 2; rotation += 1) {
      expect((await call(key, 'POST /v1/key/rotate')).status).toBe(201);
    }
    expect((await issueBy(holder)).status).toBe(201);
    expectError(await issueBy(holder), 409, 'conflict', expect.stringMatching(/issued 100 keys today/));
  });
});

describe('POST /v1/keys on two replicas', () => {
  let other: TestApplication;

  beforeAll(async () => {
    const { database, clock } = admin.store;
    other = await startApplication({ database, clock });
  });
  afterAll(() => other.close());

  const issueByBoth = (holder: Keyed) =>
    [admin.store.url, other.url].map((url) =>
      send(`${url}/v1/keys`, { method: 'POST', key: holder.key, body: { name: 'team' } }),
    );
  const lockQuota = ({ quotaId }: IssuedKey, ...statements: string[]) =>
    hold(
      admin.store.database.url,
      `SELECT 1 FROM quotas WHERE id = '${quotaId}' FOR NO KEY UPDATE`,
      ...statements,
    );

  it('issues one key of two at once for the twentieth', async () => {
    const holder = await issueHolder();
    await addKeys(admin.store.database, holder.quotaId, 18);
    const lock = await lockQuota(holder);
    const issuing = issueByBoth(holder);
    await eventually(() => expectLocksWaitedFor(admin.store.database, 2));
    await lock.letGo();
    const statuses = (await Promise.all(issuing)).map(({ status }) => status);
    expect(statuses).toHaveLength(2);
    expect(new Set(statuses)).toEqual(new Set([201, 409]));
  });

  it.each<[string, string, number, string]>([
    ['loses keys:write', "UPDATE api_keys SET scopes = '{pets:read}' WHERE id", 403, 'insufficient_scope'],
    ['is revoked', 'UPDATE api_keys SET revoked_at = now() WHERE id', 409, 'conflict'],
    ['expires', "UPDATE api_keys SET expires_at = '2020-01-01Z' WHERE id", 409, 'conflict'],
  ])('issues nothing by a holder that %s meanwhile', async (_what, change, status, code) => {
    const holder = await issueHolder();
    const lock = await lockQuota(holder, `${change} = '${holder.id}'`);
    const issuing = issueByBoth(holder);
    await eventually(() => expectLocksWaitedFor(admin.store.database, 2));
    await lock.letGo();
    for (const response of await Promise.all(issuing)) {
      expectError(response, status, code);
    }
  });

  it('issues what a holder may that is narrowed meanwhile', async () => {
    const holder = await issueHolder();
    const narrow = "SET scopes = '{pets:read,keys:write}', allowed_networks = '{127.0.0.1/32}'";
    const lock = await lockQuota(holder, `UPDATE api_keys ${narrow} WHERE id = '${holder.id}'`);
    const issuing = issueByBoth(holder);
    await eventually(() => expectLocksWaitedFor(admin.store.database, 2));
    await lock.letGo();
    for (const { json } of await Promise.all(issuing)) {
      expect(json).toMatchObject({ scopes: ['pets:read'], allowedNetworks: ['127.0.0.1/32'] });
    }
  });

  it('leaves no key valid that a holder issued while it was revoked as leaked', async () => {
    const holder = await issueHolder();
    const before = (await issueBy(holder)).json;
    const lock = await lockQuota(holder);
    const issuing = issueByBoth(holder);
    const revoking = admin.send('POST /admin/keys/revoke', { key: holder.key });
    await eventually(() => expectLocksWaitedFor(admin.store.database, 3));
    await lock.letGo();
    expect((await revoking).status).toBe(200);
    const responses = await Promise.all(issuing);
    const issued = responses.flatMap(({ status, json }) => (status === 201 ? [json] : []));
    for (const { id } of [before, ...issued]) {
      expect(await find({ id })).toMatchObject({ state: 'revoked' });
    }
  });
});

describe('GET /v1/keys', () => {
  it('returns the keys that holders issued, with their last use, oldest first over all pages', async () => {
    const holder = await issueHolder();
    const other = await admin.issue({ plan: undefined, scopes: SCOPES, quotaId: holder.quotaId });
    await issueBy(await issueHolder());
    const first: IssuedKey = (await issueBy(holder, { name: 'first' })).json;
    const second = (await issueBy(other, { name: 'second' })).json;
    const third = (await issueBy(holder, { name: 'third' })).json;
    await call(first, 'GET /v1/pets');
    await call(holder, `POST /v1/keys/${second.id}/revoke`);
    await recordUsage(admin.store);
    const response = await call(holder, 'GET /v1/keys');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-stability')).toBe('beta');
    const { key: _key, ...shown } = first;
    expect(response.json).toEqual([
      { ...shown, lastUsedAt: expect.any(String) },
      expect.objectContaining({ id: second.id, state: 'revoked', issuerId: other.id, lastUsedAt: null }),
      expect.objectContaining({ id: third.id, state: 'active', issuerId: holder.id, lastUsedAt: null }),
    ]);
    const pages = await readPages((target) => call(other, `GET ${target}`), '/v1/keys?limit=1');
    expect(pages).toEqual(response.json.map((key: unknown) => [key]));
  });

  it.each(['limit=0', 'limit=x', 'cursor=x', 'limit=1&limit=2'])('returns 400 for %s', async (query) => {
    expectInvalid(await call(await issueHolder(), `GET /v1/keys?${query}`), /^(limit|cursor) /);
  });

  it('returns 403 without the scope keys:write', async () => {
    expectError(await call(await admin.issue(), 'GET /v1/keys'), 403, 'insufficient_scope');
  });
});

describe('POST /v1/keys/{id}/revoke', () => {
  it('revokes a key that another holder of the quota issued, and is recorded as its action', async () => {
    const holder = await issueHolder();
    const other = await admin.issue({ plan: undefined, scopes: SCOPES, quotaId: holder.quotaId });
    const key = (await issueBy(other)).json;
    const response = await call(holder, `POST /v1/keys/${key.id}/revoke`);
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({ id: key.id, state: 'revoked', revokedAt: expect.any(String) });
    await eventually(async () => expect(await statusOf(key)).toBe(401));
    const [event] = await listEvents(key);
    expect(event).toMatchObject({ actor: { id: holder.id }, action: 'key.revoked' });
    expect((await call(holder, `POST /v1/keys/${key.id}/revoke`)).json).toEqual(response.json);
  });

  it('returns 404 for a key of an administrator, one of another quota, and an unknown one', async () => {
    const holder = await issueHolder();
    const ofOther = (await issueBy(await issueHolder())).json;
    for (const id of [holder.id, ofOther.id, UNKNOWN_ID, 'x']) {
      const response = await call(holder, `POST /v1/keys/${id}/revoke`);
      expectError(response, 404, 'not_found', `There is no key with the id "${id}".`);
    }
    expect(await statusOf(ofOther)).toBe(200);
  });

  it('returns 403 without the scope keys:write', async () => {
    const key = (await issueBy(await issueHolder())).json;
    expectError(await call(key, `POST /v1/keys/${key.id}/revoke`), 403, 'insufficient_scope');
  });
});

describe('a key that a holder issued', () => {
  it('keeps its issuer when it is rotated', async () => {
    const holder = await issueHolder();
    const key = (await issueBy(holder)).json;
    const { json } = await call(key, 'POST /v1/key/rotate');
    expect((await call(holder, 'GET /v1/keys')).json).toMatchObject([
      { id: key.id, state: 'rotating', successorId: json.id },
      { id: json.id, issuerId: holder.id, predecessorId: key.id },
    ]);
  });

  it('stays valid when its issuer is revoked, but not if that is revoked as leaked', async () => {
    const holder = await issueHolder();
    const key = (await issueBy(holder)).json;
    const successor = (await call(key, 'POST /v1/key/rotate')).json;
    const kept = await admin.issue({ plan: undefined, quotaId: holder.quotaId });
    await admin.send(`POST /admin/keys/${holder.id}/revoke`);
    expect(await statusOf(successor)).toBe(200);
    await admin.send('POST /admin/keys/revoke', { key: holder.key });
    await eventually(async () => {
      expect([await statusOf(key), await statusOf(successor), await statusOf(kept)]).toEqual([401, 401, 200]);
    });
    expect(await listEvents(successor)).toMatchObject([
      { action: 'key.revoked', actor: { id: admin.administrator.id } },
    ]);
  });

  it('does not keep its issuer from being revoked as leaked, however many of them have expired', async () => {
    const holder = await issueHolder();
    const { id }: Keyed = (await issueBy(holder)).json;
    await admin.store.database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, expires_at, issuer_id)
       SELECT gen_random_uuid(), $1, 'a', sha256(('x' || n)::bytea), 'ask_test_', '0000', '2020-01-01Z', $2
       FROM generate_series(1, 5000) n`,
      [holder.quotaId, holder.id],
    );
    expect((await admin.send('POST /admin/keys/revoke', { key: holder.key })).status).toBe(200);
    expect(await find({ id })).toMatchObject({ state: 'revoked' });
  });

  it('is revoked as leaked with what it issued once an administrator gave it keys:write', async () => {
    const holder = await issueHolder();
    const key = (await issueBy(holder)).json;
    await restrict(key, { scopes: SCOPES });
    await eventually(async () => expect((await issueBy(key)).status).toBe(201));
    const [, ...issued] = (await call(holder, 'GET /v1/keys')).json;
    await admin.send('POST /admin/keys/revoke', { key: holder.key });
    for (const each of issued) {
      expect(await find(each)).toMatchObject({ issuerId: key.id, state: 'revoked' });
    }
  });
});

describe('POST /v1/key/rotate of a leaked key', () => {
  it('revokes it at once, and what was issued by it, and returns its successor', async () => {
    const holder = await issueHolder();
    const key = (await issueBy(holder)).json;
    const response = await call(holder, 'POST /v1/key/rotate', { leaked: true });
    expect(response.status).toBe(201);
    await eventually(async () => {
      expect([await statusOf(holder), await statusOf(key)]).toEqual([401, 401]);
    });
    expect(await statusOf(response.json)).toBe(200);
    const old = await find(holder);
    expect(old).toMatchObject({ state: 'revoked', successorId: response.json.id });
    expect(response.json.overlapEndsAt).toBe(old.expiresAt);
    expect(await find(response.json)).toMatchObject({ scopes: SCOPES, state: 'active' });
    const actions = (await listEvents(holder)).map(({ action, actor }: AuditEvent) => [
      action,
      actor.id === holder.id,
    ]);
    expect(actions.slice(0, 2)).toEqual([
      ['key.rotated', true],
      ['key.revoked', true],
    ]);
  });

  it.each([
    [
      { leaked: true, overlapSeconds: 3600 },
      'overlapSeconds must not be given for a leaked key, which ends at once',
    ],
    [{ leaked: 'yes' }, 'leaked must be true or false'],
    [{ leaked: null }, 'leaked must be true or false'],
  ])('returns 400 for %p', async (body, faults) => {
    const holder = await issueHolder();
    expectInvalid(await call(holder, 'POST /v1/key/rotate', body), faults);
    expect(await statusOf(holder)).toBe(200);
  });

  it('is not limited by the rotations of the day', async () => {
    let key: Keyed = await issueHolder();
    for (let rotation = 0; rotation < 7; rotation += 1) {
      const response = await call(key, 'POST /v1/key/rotate', { leaked: true });
      expect(response.status).toBe(201);
      key = response.json;
    }
    expectError(
      await call(key, 'POST /v1/key/rotate'),
      409,
      'conflict',
      expect.stringMatching(/5 times today/),
    );
  });

  it('has an overlap as usual if it did not leak', async () => {
    const holder = await issueHolder();
    expect((await call(holder, 'POST /v1/key/rotate', { leaked: false, overlapSeconds: 3600 })).status).toBe(
      201,
    );
    expect(await statusOf(holder)).toBe(200);
  });
});

describe('POST /admin/keys with quotaId', () => {
  it('issues a key on the quota of another, with its plan, counts and ban', async () => {
    const key = await admin.issue({ plan: 'pro' });
    await call(key, 'GET /v1/pets');
    const further = await admin.issue({ plan: undefined, quotaId: key.quotaId, name: 'further' });
    expect(further).toMatchObject({ quotaId: key.quotaId, plan: 'pro', perMinute: 300, issuerId: null });
    expect((await call(further, 'GET /v1/pets')).headers.get('x-ratelimit-remaining')).toBe('298');
    const [event] = await listEvents(further);
    expect(event).toMatchObject({ actor: { id: admin.administrator.id }, action: 'key.issued' });
  });

  it('may be an administrator on the quota of a client, and on that of a revoked key', async () => {
    const key = await admin.issue();
    await admin.send(`POST /admin/keys/${key.id}/revoke`);
    const further = await admin.issue({ plan: undefined, quotaId: key.quotaId, role: 'admin' });
    expect(await statusOf(further)).toBe(200);
  });

  it.each([
    [{}, 'plan is required without quotaId'],
    [{ quotaId: 'x' }, 'quotaId must be the id of a quota'],
    [{ quotaId: UNKNOWN_ID }, `quotaId: no quota has the id ${UNKNOWN_ID}`],
    [{ quotaId: UNKNOWN_ID, plan: 'pro' }, /^quotaId must not be given with plan/],
    [{ quotaId: UNKNOWN_ID, perMinute: 1, perDay: 1 }, /^quotaId must not be given with plan/],
  ])('returns 400 for %p', async (input, faults) => {
    expectInvalid(await admin.send('POST /admin/keys', { name: 'x', ...input }), faults);
  });
});
