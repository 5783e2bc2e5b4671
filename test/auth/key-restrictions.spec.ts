import { setTimeout as pause } from 'node:timers/promises';
import { type Scope, SCOPES, scopesForRole } from '../../src/auth/rules/scope.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { eventually, until } from '../support/eventually.js';
import { expectError, expectInvalid, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const WIDE = { plan: 'enterprise', perMinute: 100_000, perDay: 1_000_000 };
const PET = { name: 'Rex', categoryId: 1 };
const HERE = '127.0.0.0/8';
const ELSEWHERE = '203.0.113.0/24';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

type Keyed = Pick<IssuedKey, 'id' | 'key'>;

const call = ({ key }: Keyed, request: string, body?: unknown, headers = {}) => {
  const [method = '', path = ''] = request.split(' ');
  return send(admin.store.url + path, { method, key, body, headers });
};
const restrict = ({ id }: Keyed, body: unknown, headers = {}) =>
  call(admin.administrator, `PATCH /admin/keys/${id}`, body, headers);
const remaining = async (key: Keyed) => (await call(key, 'GET /v1/rate-limit')).json.windows[1].remaining;

describe('a key with scopes', () => {
  it('gets 403 insufficient_scope with the challenge of RFC 6750 otherwise, which counts', async () => {
    const key = await issue({ scopes: ['pets:read', 'orders:read'] });
    expect((await call(key, 'GET /v1/pets')).status).toBe(200);
    const denied = await call(key, 'POST /v1/pets', PET);
    expectError(
      denied,
      403,
      'insufficient_scope',
      'This API key lacks the scope pets:write, which the operation needs.',
    );
    expect(denied.headers.get('www-authenticate')).toBe(
      'Bearer realm="animal-store", error="insufficient_scope", scope="pets:write"',
    );
    expectRateLimitHeaders(denied);
    expect(denied.headers.get('x-ratelimit-remaining')).toBe('58');
  });

  it.each([
    ['pets:read', 'GET /v1/pets', 200],
    ['pets:read', 'HEAD /v1/pets', 200],
    ['pets:read', 'GET /v1/pets/9223372036854775807', 404],
    ['pets:write', 'GET /v1/pets', 403],
    ['pets:write', 'HEAD /v1/pets', 403],
    ['pets:write', 'GET /v1/pets/1', 403],
    ['orders:read', 'GET /v1/store/orders', 200],
    ['orders:read', 'POST /v1/store/orders', 403],
    ['orders:write', 'GET /v1/store/orders', 403],
    ['orders:write', 'POST /v1/store/orders', 400],
    ['orders:write', 'GET /v1/key', 200],
    ['orders:write', 'GET /v1/usage', 200],
    ['orders:write', 'GET /v1/deprecations', 200],
    ['orders:write', 'GET /v1/rate-limit', 200],
    ['orders:write', 'GET /v1/nothing', 404],
    ['orders:write', 'PUT /v1/pets', 405],
  ])('gets with %s for %s the status %i', async (scope, request, status) => {
    const key = await issue({ ...WIDE, scopes: [scope] });
    const body = request.startsWith('P') ? {} : undefined;
    expect((await call(key, request, body)).status).toBe(status);
  });

  it('gets 429 once it is over its limit, even for an operation outside of them', async () => {
    for (const [scope, outside] of [
      ['pets:read', 'POST /v1/pets'],
      // It is served while it is counted.
      ['pets:write', 'GET /v1/pets'],
    ] as const) {
      const key = await issue({ plan: 'enterprise', perMinute: 2, perDay: 10, scopes: [scope] });
      await call(key, 'GET /v1/key');
      await call(key, 'GET /v1/key');
      expectError(await call(key, outside), 429, 'rate_limit_exceeded');
    }
  });

  it('may read administration but change nothing with admin:read alone', async () => {
    const key = await issue({ ...WIDE, role: 'admin', scopes: ['admin:read'] });
    expect((await call(key, 'GET /admin/keys')).status).toBe(200);
    const denied = await call(key, 'POST /admin/keys', { name: 'more', plan: 'free' });
    expectError(denied, 403, 'insufficient_scope', expect.stringContaining('admin:write'));
    for (const path of [`PATCH /admin/keys/${key.id}`, `POST /admin/keys/${key.id}/revoke`]) {
      expect((await call(key, path, {})).status).toBe(403);
    }
    expect((await call(key, 'GET /v1/pets')).status).toBe(403);
  });

  it('sees them in GET /v1/key, in the order of the documentation, each once', async () => {
    const key = await issue({ scopes: ['orders:read', 'pets:read', 'orders:read'] });
    expect((await call(key, 'GET /v1/key')).json).toMatchObject({
      scopes: ['pets:read', 'orders:read'],
      allowedNetworks: null,
    });
  });

  it('passes them on to its successor, with its networks', async () => {
    const key = await issue({ scopes: ['pets:read'], allowedNetworks: [HERE] });
    const successor = (await sendAsAdmin(`POST /admin/keys/${key.id}/rotate`)).json;
    expect(successor).toMatchObject({ scopes: ['pets:read'], allowedNetworks: [HERE] });
    expect((await call(successor, 'POST /v1/pets', PET)).status).toBe(403);
  });
});

describe('a key with an empty list', () => {
  const OPEN = ['GET /v1/key', 'GET /v1/usage', 'GET /v1/rate-limit'];
  const SCOPED = [
    'GET /v1/pets',
    'POST /v1/pets',
    'GET /v1/store/orders',
    'POST /v1/store/orders',
    'GET /v1/keys',
  ];

  it('of scopes may do nothing that needs one, and an administrator with it changes nothing', async () => {
    const key = await issue({ ...WIDE, scopes: [] });
    expect(key.scopes).toEqual([]);
    for (const request of SCOPED) {
      expectError(await call(key, request), 403, 'insufficient_scope');
    }
    for (const request of OPEN) {
      expect((await call(key, request)).status).toBe(200);
    }
    expect((await call(key, 'GET /v1/key')).json.scopes).toEqual([]);
    const administrator = await issue({ ...WIDE, role: 'admin', scopes: [] });
    for (const request of ['GET /admin/keys', `POST /admin/keys/${key.id}/revoke`]) {
      expectError(await call(administrator, request), 403, 'insufficient_scope');
    }
  });

  it('of networks may be used from nowhere', async () => {
    const key = await issue({ ...WIDE, allowedNetworks: [] });
    expect(key.allowedNetworks).toEqual([]);
    for (const request of [...OPEN, ...SCOPED]) {
      expectError(await call(key, request), 403, 'address_not_allowed');
    }
    expect((await restrict(key, { allowedNetworks: null })).json.allowedNetworks).toBeNull();
    await until(async () => (await call(key, 'GET /v1/key')).status === 200);
  });

  it.each(['scopes', 'allowed_networks'])('has no entry that is NULL: %s', async (column) => {
    const { id } = await issue({});
    const store = admin.store.database.query(`UPDATE api_keys SET ${column} = '{NULL}' WHERE id = $1`, [id]);
    await expect(store).rejects.toThrow(`api_keys_${column}_without_null`);
  });

  it('has it even if direct SQL emptied the list, and passes it on to its successor', async () => {
    const key = await issue({ ...WIDE, scopes: ['pets:read'], allowedNetworks: [HERE] });
    const set = (assignments: string) =>
      admin.store.database.query(`UPDATE api_keys SET ${assignments} WHERE id = $1`, [key.id]);
    await set("scopes = '{}'");
    await until(async () => (await call(key, 'GET /v1/pets')).status === 403);
    for (const request of SCOPED) {
      expectError(await call(key, request), 403, 'insufficient_scope');
    }
    const shown = { scopes: [], allowedNetworks: [HERE] };
    expect((await sendAsAdmin(`GET /admin/keys/${key.id}`)).json).toMatchObject(shown);
    expect((await sendAsAdmin(`GET /admin/keys?quotaId=${key.quotaId}`)).json[0]).toMatchObject(shown);
    await set("allowed_networks = '{}'");
    await until(async () => (await call(key, 'GET /v1/key')).status === 403);
    const empty = { scopes: [], allowedNetworks: [] };
    expect((await sendAsAdmin(`PATCH /admin/keys/${key.id}`, { name: 'renamed' })).json).toMatchObject(empty);
    expect((await sendAsAdmin(`POST /admin/keys/${key.id}/rotate`)).json).toMatchObject(empty);
    expect((await sendAsAdmin(`POST /admin/keys/${key.id}/revoke`)).json).toMatchObject(empty);
    await set('scopes = NULL, allowed_networks = NULL');
    const unrestricted = { scopes: null, allowedNetworks: null };
    expect((await sendAsAdmin(`GET /admin/keys/${key.id}`)).json).toMatchObject(unrestricted);
  });
});

describe('a key with networks', () => {
  it("gets 403 address_not_allowed from elsewhere, with the caller's address, and is counted", async () => {
    const key = await issue({ allowedNetworks: [ELSEWHERE, '2001:db8::/32'] });
    const denied = await call(key, 'GET /v1/pets');
    const message = /^This API key may not be used from the address 127\.0\.0\.1\./;
    expectError(denied, 403, 'address_not_allowed', expect.stringMatching(message));
    expectRateLimitHeaders(denied);
    expect(denied.headers.get('x-ratelimit-remaining')).toBe('59');
    expect((await call(key, 'GET /v1/nothing')).status).toBe(403);
  });

  it('is served from each of them, of which a single address is one', async () => {
    const key = await issue({ allowedNetworks: [ELSEWHERE, '127.0.0.1', '::1/128', '203.0.113.9/24'] });
    expect(key.allowedNetworks).toEqual([ELSEWHERE, '127.0.0.1/32', '::1/128']);
    expect((await call(key, 'GET /v1/pets')).status).toBe(200);
  });

  it('cannot be used from elsewhere by a forged X-Forwarded-For that no proxy vouches for', async () => {
    const key = await issue({ allowedNetworks: [ELSEWHERE] });
    const forged = { 'X-Forwarded-For': '203.0.113.9' };
    expect((await call(key, 'GET /v1/pets', undefined, forged)).status).toBe(403);
  });

  describe('behind a trusted proxy', () => {
    let behind: TestApplication;
    beforeAll(async () => {
      behind = await startApplication({ database: admin.store.database, environment: { TRUST_PROXY: 1 } });
    });
    afterAll(() => behind.close());

    const readFrom = async (address: string) => {
      const { key } = await issue({ allowedNetworks: [ELSEWHERE, '2001:db8::/32'] });
      return send(`${behind.url}/v1/pets`, { key, headers: { 'X-Forwarded-For': address } });
    };

    it.each(['203.0.113.9', '::ffff:203.0.113.9', '2001:db8:1::1'])('serves %s', async (address) => {
      expect(await readFrom(address)).toMatchObject({ status: 200, json: expect.any(Array) });
    });

    it.each([
      ['198.51.100.7', '198.51.100.7'],
      ['nonsense here', 'unknown'],
    ])('denies %s with 403, naming %s', async (address, named) => {
      const message = expect.stringContaining(`from the address ${named}. `);
      expect(await readFrom(address)).toMatchObject({ status: 403, json: { message } });
    });
  });
});

describe('PATCH /admin/keys/{id}, its scopes and networks', () => {
  it('changes what is given, keeps what is absent, removes what is null, and audits the change', async () => {
    const key = await issue(WIDE);
    const set = await restrict(key, { scopes: ['pets:read'], allowedNetworks: ['127.0.0.9/8'] });
    expect(set.status).toBe(200);
    expect(set.json).toMatchObject({ id: key.id, scopes: ['pets:read'], allowedNetworks: [HERE] });
    expect(set.json.warnings).toEqual([]);
    expect((await restrict(key, { scopes: null })).json.allowedNetworks).toEqual([HERE]);
    expect((await restrict(key, { allowedNetworks: null })).json).toMatchObject({
      scopes: null,
      allowedNetworks: null,
    });
    await restrict(key, { scopes: null });
    await restrict(key, {});
    const events = (await sendAsAdmin(`GET /admin/audit?keyId=${key.id}&action=key.updated`)).json;
    expect(events.map(({ before, after }: Record<string, unknown>) => [before, after])).toEqual([
      [{ allowedNetworks: [HERE] }, { allowedNetworks: null }],
      [{ scopes: ['pets:read'] }, { scopes: null }],
      [
        { scopes: null, allowedNetworks: null },
        { scopes: ['pets:read'], allowedNetworks: [HERE] },
      ],
    ]);
  });

  it('keeps the changes of two administrators at once, one of scopes and one of networks', async () => {
    const key = await issue(WIDE);
    await Promise.all([restrict(key, { scopes: ['pets:read'] }), restrict(key, { allowedNetworks: [HERE] })]);
    const stored = (await sendAsAdmin(`GET /admin/keys/${key.id}`)).json;
    expect(stored).toMatchObject({ scopes: ['pets:read'], allowedNetworks: [HERE] });
  });

  it.each([
    [{ scopes: ['pets:delete'] }, /^scopes\[0\] must be one of pets:read, /],
    [
      { scopes: 'pets:read' },
      `scopes must be a list of up to ${SCOPES.length} scopes, or null for no restriction`,
    ],
    [{ scopes: ['admin:read'] }, /^scopes must have no scope of administration/],
    [{ allowedNetworks: ['10/8'] }, /must be a network such as/],
    [{ allowedNetworks: ['203.0.113.0/33'] }, /must be a network such as/],
    [{ allowedNetworks: ['010.0.0.1'] }, /must be a network such as/],
    [{ allowedNetworks: ['fe80::1%eth0'] }, /must be a network such as/],
    [{ allowedNetworks: ['::c000:201'] }, /^allowedNetworks\[0\] must not be an IPv4-compatible/],
    [
      { allowedNetworks: ['0:0:0:0:0:0:192.0.2.1/128'] },
      /^allowedNetworks\[0\] must not be an IPv4-compatible/,
    ],
    [{ allowedNetworks: ['0::192.0.2.1'] }, /^allowedNetworks\[0\] must not be an IPv4-compatible/],
    [{ allowedNetworks: ['::192.0.2.0/120'] }, /^allowedNetworks\[0\] must not be an IPv4-compatible/],
    [{ allowedNetworks: ['::127.0.0.1'] }, /^allowedNetworks\[0\] must not be an IPv4-compatible/],
    [{ allowedNetworks: ['::1:0/112'] }, /^allowedNetworks\[0\] must not be an IPv4-compatible/],
    [{ allowedNetworks: [42] }, /must be a network such as/],
    [
      { allowedNetworks: Array<string>(51).fill(HERE) },
      /^allowedNetworks must be a list of up to 50 networks/,
    ],
  ])('returns 400 for %j, and changes nothing', async (body, fault) => {
    const key = await issue();
    expectInvalid(await restrict(key, body), fault);
    expect((await call(key, 'GET /v1/key')).json).toMatchObject({ scopes: null, allowedNetworks: null });
  });

  it("returns 404 for an unknown key, and 400 for a new client key with an admin's scope", async () => {
    const unknown = { id: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11', key: '' };
    expectError(await restrict(unknown, {}), 404, 'not_found');
    const issued = await sendAsAdmin('POST /admin/keys', { name: 'a', plan: 'free', scopes: ['admin:read'] });
    expectInvalid(issued, /^scopes must have no scope of administration/);
  });

  it('warns, as a new key does, if requests carry X-Forwarded-For and TRUST_PROXY is not set', async () => {
    const key = await issue();
    const forwarded = { 'X-Forwarded-For': '203.0.113.9' };
    const message: unknown = expect.stringMatching(/TRUST_PROXY is not set.*127\.0\.0\.1/);
    const warnings = [{ code: 'forwarded_but_untrusted', message }];
    expect((await restrict(key, { allowedNetworks: [HERE] }, forwarded)).json.warnings).toEqual(warnings);
    for (const body of [{ scopes: ['pets:read'] }, { allowedNetworks: [] }, { allowedNetworks: null }]) {
      expect((await restrict(key, body, forwarded)).json.warnings).toEqual([]);
    }
    const body = { name: 'a', plan: 'free', allowedNetworks: [HERE] };
    const issued = await call(admin.administrator, 'POST /admin/keys', body, forwarded);
    expect(issued.json.warnings).toEqual(warnings);
  });

  it('holds on every replica within a second, even during a burst, and serves none after that', async () => {
    const replica = await startApplication({ database: admin.store.database });
    try {
      const key = await issue(WIDE);
      const urls = [admin.store.url, replica.url];
      const outcomes: { sentMs: number; status: number }[] = [];
      const over = new AbortController();
      const burst = Promise.all(
        [...urls, ...urls].map(async (url) => {
          while (!over.signal.aborted) {
            const sentMs = performance.now();
            const { status } = await send(`${url}/v1/pets`, { key: key.key });
            outcomes.push({ sentMs, status });
            await pause(5);
          }
        }),
      );
      await until(() => outcomes.length > 20);
      // A request whose count is unknown gets 503, on a busy machine these too.
      await eventually(async () =>
        expect((await restrict(key, { scopes: ['pets:write'] })).status).toBe(200),
      );
      const heldMs = performance.now() + 1000;
      await until(() => outcomes.filter(({ sentMs }) => sentMs > heldMs).length > 20);
      over.abort();
      await burst;
      expect(outcomes.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 403]));
      expect(outcomes.filter(({ sentMs, status }) => sentMs > heldMs && status === 200)).toStrictEqual([]);
    } finally {
      await replica.close();
    }
  });
});

describe('GET /admin/keys/{keyId}/scope-suggestion', () => {
  const suggest = ({ id }: Keyed, query = '') =>
    sendAsAdmin(`GET /admin/keys/${id}/scope-suggestion${query}`);

  /** Returns these scopes, unused but for what is given of some. */
  const suggestion = (scopes: readonly Scope[], used: Partial<Record<Scope, object>> = {}) =>
    scopes.map((scope) => ({ scope, uses: 0, clientErrors: 0, lastRequestAt: null, ...used[scope] }));

  it("returns the scopes of the key's role, with the requests of rotations that needed them", async () => {
    const key = await issue(WIDE);
    await call(key, 'GET /v1/pets');
    await call(key, 'GET /v1/key');
    const successor = (await call(key, 'POST /v1/key/rotate')).json;
    await call(successor, 'GET /v1/pets');
    await call(successor, 'GET /v1/store/orders');
    const sibling = await issue({ plan: undefined, quotaId: key.quotaId });
    await call(sibling, 'POST /v1/pets', PET);
    await until(async () => (await suggest(key)).json.scopes[2].uses === 1);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const { json } = await suggest(key, `?since=${yesterday}T00:00:00Z`);
    expect(json).toEqual({
      since: `${yesterday}T00:00:00.000Z`,
      until: null,
      scopes: suggestion(scopesForRole('client'), {
        'pets:read': { uses: 2, lastRequestAt: expect.any(String) },
        'orders:read': { uses: 1, lastRequestAt: expect.any(String) },
      }),
    });
  });

  it('reads the days of a range, and without a start the last 30', async () => {
    const key = await issue(WIDE);
    for (const [day, requests] of [
      ['2026-09-01', 1],
      ['2026-09-02', 2],
      ['2026-10-01', 4],
    ] as const) {
      await admin.store.database.query(
        `INSERT INTO usage SELECT id, quota_id, 'day', $2, 'listPets', false, $3 - 1, 1, 0, 0, 0, $2
         FROM api_keys WHERE id = $1`,
        [key.id, day, requests],
      );
    }
    const read = async (query: string) => {
      const { since, until: end, scopes } = (await suggest(key, query)).json;
      return [since, end, scopes[0].uses];
    };
    const [august, second] = ['2026-08-01T00:00:00.000Z', '2026-09-02T00:00:00.000Z'];
    const october = '2026-10-02T00:00:00.000Z';
    expect(await read(`?since=${august}&until=${second}`)).toEqual([august, second, 1]);
    expect(await read(`?since=${second}&until=${october}`)).toEqual([second, october, 6]);
    expect(await read(`?until=${october}`)).toEqual([second, october, 6]);
    expect(await read('?until=2026-10-01T00:00:01Z')).toEqual([second, '2026-10-01T00:00:01.000Z', 6]);
    const recent = await read('');
    expect(recent).toEqual([expect.stringMatching(/T00:00:00\.000Z$/), null, 0]);
    expect(Math.ceil((Date.now() - Date.parse(recent[0])) / 86_400_000)).toBe(30);
  });

  it('counts client errors apart, because a client may need a scope that it was denied', async () => {
    const key = await issue({ ...WIDE, scopes: ['pets:read'] });
    expect((await call(key, 'POST /v1/pets', PET)).status).toBe(403);
    expect((await call(key, 'GET /v1/pets/99999')).status).toBe(404);
    await until(async () => (await suggest(key)).json.scopes[0].clientErrors === 1);
    const error = { clientErrors: 1, lastRequestAt: expect.any(String) };
    expect((await suggest(key)).json.scopes).toEqual(
      suggestion(scopesForRole('client'), { 'pets:read': error, 'pets:write': error }),
    );
  });

  it('does not count denied requests, because they say nothing about scopes', async () => {
    const key = await issue({ perMinute: 1, perDay: 100 });
    await call(key, 'GET /v1/pets');
    expect((await call(key, 'GET /v1/pets')).status).toBe(429);
    const usage = () => sendAsAdmin(`GET /admin/keys/${key.id}/usage`);
    await until(async () => (await usage()).json[0]?.denied === 1);
    expect((await suggest(key)).json.scopes[0].clientErrors).toBe(0);
  });

  it('returns unused scopes, 404 for an unknown key, 400 for a wrong range', async () => {
    const key = await issue({ role: 'admin' });
    expect((await suggest(key)).json.scopes).toEqual(suggestion(SCOPES));
    expectError(await suggest({ id: 'x', key: '' }), 404, 'not_found');
    expectInvalid(
      await suggest(key, '?since=yesterday'),
      /^since must be a date such as 2027-01-31, or a date-time/,
    );
    for (const range of [
      'since=2027-01-01T00:00:00Z&until=2027-01-01T00:00:00Z',
      'until=0001-01-01T00:00:00Z',
    ]) {
      expectInvalid(await suggest(key, `?${range}`), 'since must be before until');
    }
  });
});

describe('POST /admin/keys/revoke', () => {
  it('revokes the key that leaked, of which an administrator has nothing else', async () => {
    const key = await issue();
    const revoked = await sendAsAdmin('POST /admin/keys/revoke', { key: key.key });
    expect(revoked.status).toBe(200);
    expect(revoked.json).toMatchObject({ id: key.id, state: 'revoked' });
    expect(revoked.text).not.toContain(key.key);
    await until(async () => (await call(key, 'GET /v1/pets')).status === 401);
  });

  it('revokes every successor too, because a finder of the key may have rotated it', async () => {
    const key = await issue(WIDE);
    const first = (await call(key, 'POST /v1/key/rotate')).json;
    const second = (await call(first, 'POST /v1/key/rotate')).json;
    await sendAsAdmin('POST /admin/keys/revoke', { key: key.key });
    for (const each of [key, first, second]) {
      await until(async () => (await call(each, 'GET /v1/pets')).status === 401);
      const events = (await sendAsAdmin(`GET /admin/audit?keyId=${each.id}&action=key.revoked`)).json;
      expect(events).toHaveLength(1);
    }
  });

  it('returns 404 for a key that was never issued, without the key, and 400 without one', async () => {
    const key = 'ask_test_00000000000000000000000000000000000000';
    const response = await sendAsAdmin('POST /admin/keys/revoke', { key });
    expectError(response, 404, 'not_found');
    expect(response.text).not.toContain(key);
    expectInvalid(await sendAsAdmin('POST /admin/keys/revoke', {}), 'key is required');
  });
});

describe('POST /v1/key/rotate', () => {
  it('shows the successor once; both keys work until the overlap ends; the key is the actor', async () => {
    const key = await issue({ ...WIDE, scopes: ['pets:read'] });
    const response = await call(key, 'POST /v1/key/rotate', { overlapSeconds: 3600 });
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const successor = response.json;
    expect(successor).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^ask_test_/),
      prefix: 'ask_test_',
      lastFour: successor.key.slice(-4),
      createdAt: expect.any(String),
      expiresAt: null,
      overlapEndsAt: expect.any(String),
    });
    expect(Date.parse(successor.overlapEndsAt) - Date.parse(successor.createdAt)).toBe(3_600_000);
    expect((await call(successor, 'GET /v1/pets')).status).toBe(200);
    expect((await call(key, 'GET /v1/pets')).status).toBe(200);
    const [event] = (await sendAsAdmin(`GET /admin/audit?keyId=${key.id}&action=key.rotated`)).json;
    expect(event.actor).toMatchObject({ type: 'key', id: key.id });
  });

  it('returns 400 with an Idempotency-Key, because no response is stored, and rotates nothing', async () => {
    const key = await issue(WIDE);
    const headers = { 'Idempotency-Key': 'a' };
    expectError(await call(key, 'POST /v1/key/rotate', {}, headers), 400, 'invalid_request');
    expect((await call(key, 'GET /v1/key')).json.successor).toBeNull();
  });

  it('returns 409 for a key whose successor was used', async () => {
    const key = await issue(WIDE);
    const successor = (await call(key, 'POST /v1/key/rotate')).json;
    expect((await call(successor, 'GET /v1/pets')).status).toBe(200);
    const message = `The key was rotated already. Rotate its successor ${successor.id}.`;
    expectError(await call(key, 'POST /v1/key/rotate'), 409, 'conflict', message);
  });

  it('returns 409 after five rotations of a quota in a UTC day, but not to an administrator', async () => {
    let key: Keyed = await issue(WIDE);
    for (let rotation = 0; rotation < 5; rotation += 1) {
      const response = await call(key, 'POST /v1/key/rotate');
      expect(response.status).toBe(201);
      key = response.json;
    }
    expectError(
      await call(key, 'POST /v1/key/rotate'),
      409,
      'conflict',
      expect.stringMatching(/5 times today/),
    );
    const rotated = await sendAsAdmin(`POST /admin/keys/${key.id}/rotate`);
    expect(rotated.status).toBe(201);
    admin.store.clock.travelTo(new Date(admin.store.clock.now() + 86_400_000));
    expect((await call(rotated.json, 'POST /v1/key/rotate')).status).toBe(201);
  });

  it('either makes a successor or is denied while the key is revoked at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const key = await issue(WIDE);
      const [rotated, revoked] = await Promise.all([
        call(key, 'POST /v1/key/rotate'),
        sendAsAdmin(`POST /admin/keys/${key.id}/revoke`),
      ]);
      expect(revoked.status).toBe(200);
      expect([201, 401, 409]).toContain(rotated.status);
      const { successorId, state } = (await sendAsAdmin(`GET /admin/keys/${key.id}`)).json;
      expect(state).toBe('revoked');
      expect(successorId !== null).toBe(rotated.status === 201);
    }
  });

  it('never makes a successor that outlives the key, and gives it no other limits', async () => {
    const expiresAt = new Date(admin.store.clock.now() + 60_000).toISOString();
    const key = await issue({ expiresAt });
    const successor = (await call(key, 'POST /v1/key/rotate', { expiresAt: '2099-01-01T00:00:00Z' })).json;
    expect(successor).toMatchObject({ expiresAt, overlapEndsAt: expiresAt });
    expect(await remaining(successor)).toBe(999);
  });

  it.each([{ overlapSeconds: 3599 }, { overlapSeconds: 31_536_001 }, { overlapSeconds: '3600' }])(
    'returns 400 for %j',
    async (body) => {
      const key = await issue();
      expectInvalid(await call(key, 'POST /v1/key/rotate', body), /^overlapSeconds must be/);
    },
  );
});
