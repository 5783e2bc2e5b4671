import { createHash } from 'node:crypto';
import { TERMINAL } from '../../src/admin/audit/audit.js';
import type { IssuedKey, Key } from '../../src/admin/keys/key.schemas.js';
import { KeyService } from '../../src/admin/keys/key.service.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { CounterStore, CounterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import { type Administration, startAdministration } from '../support/keys/administration.js';
import { ban, bannedUntil } from '../support/counters/bans.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { linksOf } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { changingNothing } from '../support/database/stored-state.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
const INTEGER = 'must be an integer from 1 to 2147483647, written as digits';
const OVERLAP = 'must be an integer from 0 to 31536000, written as digits';
const INSTANT = 'must be a date-time with its offset, such as 2027-01-01T00:00:00Z';

let admin: Administration;
let sendAsAdmin: Administration['send'];
let issue: Administration['issue'];

beforeAll(async () => {
  admin = await startAdministration();
  ({ send: sendAsAdmin, issue } = admin);
});
afterAll(() => admin.store.close());
afterEach(() => admin.store.clock.goOn());

const use = (key: string) => send(`${admin.store.url}/v1/pets`, { key });
const remaining = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));
const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
/** An issued key as it is returned later: without the key itself. */
const shown = ({ key: _key, ...rest }: IssuedKey): Key => rest;
/** An issued key that was not used, as it is listed. */
const listed = (key: IssuedKey) => ({
  ...shown(key),
  lastUsedAt: null,
  requestsByHour: Array<number>(24).fill(0),
});
const find = async ({ id }: { id: string }): Promise<Key> =>
  (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const rotate = ({ id }: { id: string }, body?: unknown) => sendAsAdmin(`POST /admin/keys/${id}/rotate`, body);
const revoke = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/revoke`);
const label = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PUT /admin/keys/${id}/label`, body);
const rateLimit = ({ id }: { id: string }) => sendAsAdmin(`GET /admin/keys/${id}/rate-limit`);
const unban = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/unban`);

const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);

const auditOf = ({ id }: IssuedKey, action: string) =>
  admin.store.database.query('SELECT id FROM audit_events WHERE subject = $1 AND action = $2', [
    `key:${id}`,
    action,
  ]);

async function createPlan(name: string, perMinute = 100, perDay = 1000): Promise<void> {
  expect((await sendAsAdmin(`PUT /admin/plans/${name}`, { perMinute, perDay })).status).toBe(201);
}

/** Sends requests without a pause until a response is as wanted, for at most a second. */
async function withinASecond(
  key: string,
  isWanted: (response: HttpResponse) => boolean,
): Promise<HttpResponse> {
  const deadline = performance.now() + 1000;
  let response: HttpResponse;
  let sentAt: number;
  do {
    sentAt = performance.now();
    response = await use(key);
  } while (!isWanted(response) && sentAt < deadline);
  return response;
}

describe('HEAD /admin/keys', () => {
  it('returns what GET returns, without the body, and counts', async () => {
    const got = await sendAsAdmin('GET /admin/keys?limit=1');
    const headed = await sendAsAdmin('HEAD /admin/keys?limit=1');
    expect([headed.status, headed.text]).toEqual([200, '']);
    expect(headed.headers.get('content-type')).toBe(got.headers.get('content-type'));
    expect(headed.headers.get('link')).toBe(got.headers.get('link'));
    expect(remaining(headed)).toBe(remaining(got) - 1);
  });
});

describe('POST /admin/keys', () => {
  it('returns 201 with the key, which is shown only this once, on the limits of its plan', async () => {
    const response = await sendAsAdmin('POST /admin/keys', { name: "Ann's shop", plan: 'pro' });
    expect(response.status).toBe(201);
    expect(response.json).toEqual({
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      name: "Ann's shop",
      note: null,
      role: 'client',
      state: 'active',
      prefix: 'ask_test_',
      lastFour: response.json.key.slice(-4),
      quotaId: expect.stringMatching(UUID),
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      ownLimits: false,
      bannedUntil: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expiresAt: null,
      revokedAt: null,
      predecessorId: null,
      successorId: null,
    });
    expect(response.headers.get('location')).toBe(`/admin/keys/${response.json.id}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expectRateLimitHeaders(response);

    const read = await sendAsAdmin(`GET ${response.headers.get('location')}`);
    expect([read.status, read.json]).toEqual([200, listed(response.json)]);
    const used = await use(response.json.key);
    expect([used.status, used.headers.get('x-ratelimit-limit'), remaining(used)]).toEqual([200, '300', 299]);
  });

  it('creates a quota for each key', async () => {
    const [one, other] = [await issue(), await issue()];
    expect(one.quotaId).not.toBe(other.quotaId);
    expect(one.key).not.toBe(other.key);
    await use(one.key);
    expect(remaining(await use(other.key))).toBe(59);
  });

  it('accepts own limits instead of those of the plan, up to the largest int32', async () => {
    for (const plan of ['enterprise', 'free']) {
      const limits = { plan, perMinute: 7, perDay: 2_147_483_647 };
      const own = await issue(limits);
      expect(own).toMatchObject({ ...limits, ownLimits: true });
      expect((await use(own.key)).headers.get('ratelimit-policy')).toBe(
        '"minute";q=7;w=60, "day";q=2147483647;w=86400',
      );
    }
  });

  it('accepts a role, and an expiry at any offset', async () => {
    const expiresAt = inFuture(DAY_MS);
    const inTokyo = `${new Date(expiresAt.getTime() + 9 * HOUR_MS).toISOString().slice(0, -1)}+09:00`;
    const key = await issue({ role: 'admin', expiresAt: inTokyo });
    expect(key).toMatchObject({ role: 'admin', state: 'active', expiresAt: expiresAt.toISOString() });
    expect(await issue({ role: 'client' })).toMatchObject({ role: 'client', expiresAt: null });
  });

  it('returns the largest possible expiry as it was given', async () => {
    const { id } = await issue({ expiresAt: '9999-12-31T23:59:59.999Z' });
    expect((await find({ id })).expiresAt).toBe('9999-12-31T23:59:59.999Z');
  });

  it.each([
    ['of one character', 'A'],
    ['of 255 characters outside the basic plane', '🐕'.repeat(255)],
    ['with spaces around it, quotes and markup', ` <b>"Ann's"</b> \\ `],
    ['with a character that only looks blank', '\u200b'],
  ])('stores a name as given: %s', async (_what, name) => {
    const { id } = await issue({ name });
    expect((await find({ id })).name).toBe(name);
  });

  it('stores a note as given, up to 1000 characters', async () => {
    for (const note of ['Calls at night: "ann@example.org"', '🐕'.repeat(1000)]) {
      const key = await issue({ note });
      expect(key.note).toBe(note);
      expect((await find(key)).note).toBe(note);
    }
  });

  it('ignores unknown fields: nobody can choose the key, its id or its quota', async () => {
    const chosen = {
      id: UNKNOWN_ID,
      quotaId: UNKNOWN_ID,
      key: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps',
      state: 'revoked',
      revokedAt: '2020-01-01T00:00:00Z',
      bannedUntil: '2999-01-01T00:00:00Z',
      predecessorId: UNKNOWN_ID,
      '': null,
    };
    const response = await sendAsAdmin(
      'POST /admin/keys',
      `{"name":"x","plan":"free","__proto__":{"role":"admin"},"constructor":1,${JSON.stringify(chosen).slice(1)}`,
    );
    expect(response.status).toBe(201);
    expect(response.json).toMatchObject({
      role: 'client',
      state: 'active',
      bannedUntil: null,
      predecessorId: null,
    });
    expect([response.json.id, response.json.quotaId]).not.toContain(UNKNOWN_ID);
    expect(response.json.key).not.toBe(chosen.key);
  });

  describe('with an invalid body', () => {
    const input = (fields: Record<string, unknown>) => JSON.stringify({ name: 'x', plan: 'free', ...fields });
    const limits = (perMinute: string, perDay = '5') =>
      `{"name":"x","plan":"free","perMinute":${perMinute},"perDay":${perDay}}`;

    it.each([
      ['{}', 'name is required; plan is required'],
      [input({ name: undefined }), 'name is required'],
      [input({ plan: undefined }), 'plan is required'],
      [input({ name: null }), 'name must be a string'],
      [input({ name: 7 }), 'name must be a string'],
      [input({ name: ['x'] }), 'name must be a string'],
      [input({ name: '' }), 'name must not be blank'],
      [input({ name: ' \u00a0\u3000' }), 'name must not be blank'],
      [input({ name: 'x'.repeat(256) }), 'name must have at most 255 characters'],
      [input({ name: '🐕'.repeat(256) }), 'name must have at most 255 characters'],
      ...[
        '\0',
        'a\u0000b',
        'a\nb',
        'a\tb',
        '\u001b[31mred',
        'a\u007fb',
        'a\u0085b',
        '\ud800',
        'safe\u202Egnp.exe',
      ].map((name) => [input({ name }), 'name must be text without control characters']),
      [input({ note: null }), 'note must be a string'],
      [input({ note: ' ' }), 'note must not be blank'],
      [input({ note: 'x'.repeat(1001) }), 'note must have at most 1000 characters'],
      [input({ note: 'a\nb' }), 'note must be text without control characters'],
      [input({ plan: null }), 'plan must be a string'],
      [input({ plan: 1 }), 'plan must be a string'],
      ...[
        '0',
        '-1',
        '1.5',
        '5.0',
        '1e3',
        '2147483648',
        '99999999999999999999',
        '"5"',
        'null',
        'true',
        '[]',
      ].map((value) => [limits(value), `perMinute ${INTEGER}`]),
      [limits('5', '0'), `perDay ${INTEGER}`],
      [limits('5', '2147483648'), `perDay ${INTEGER}`],
      [limits('0', '"x"'), `perMinute ${INTEGER}; perDay ${INTEGER}`],
      [input({ perMinute: 5 }), 'perDay is required with perMinute'],
      [input({ perDay: 5 }), 'perMinute is required with perDay'],
      ...['king', 'Admin', '', null, 1, 'toString'].map((role) => [
        input({ role }),
        'role must be one of client, admin',
      ]),
      ...[
        'tomorrow',
        '',
        '2999-01-01',
        '2999-01-01T00:00:00',
        '2999-01-01 00:00:00Z',
        '2999-02-30T00:00:00Z',
        '2999-01-01T24:00:00Z',
        '2999-01-01T00:00:00+0100',
        '9999-12-31T23:59:59-12:00',
        '+010000-01-01T00:00:00Z',
        null,
        32_503_680_000,
      ].map((expiresAt) => [input({ expiresAt }), `expiresAt ${INSTANT}`]),
      [input({ expiresAt: '2020-01-01T00:00:00Z' }), 'expiresAt must be in the future'],
      [
        '{"name":" ","plan":7,"perMinute":0,"perDay":"5","role":"king","expiresAt":"soon"}',
        `name must not be blank; plan must be a string; perMinute ${INTEGER}; perDay ${INTEGER}; role must be one of client, admin; expiresAt ${INSTANT}`,
      ],
      ['{"name":7,"perDay":5}', 'name must be a string; plan is required; perMinute is required with perDay'],
      ...['', '[]', '"x"', 'null'].map((body) => [body, 'the body must be a JSON object']),
    ])('returns 400 that names every fault, and issues nothing: %s', async (body, faults) => {
      const response = await unchanged(() => sendAsAdmin('POST /admin/keys', body));
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expect(response.headers.get('location')).toBeNull();
    });

    const noPlan = /^There is no plan ".*"; the plans are business, enterprise, free, .*pro/s;
    it.each<[string, RegExp]>([
      ['gold', noPlan],
      ['Free', noPlan],
      ['', noPlan],
      ['\ud800', noPlan],
      ['free\0', noPlan],
      ['__proto__', noPlan],
      ["free'; DROP TABLE plans; --", noPlan],
      ['enterprise', /^Plan "enterprise" has no limits of its own; give those per minute and per day\.$/],
    ])('returns 400 for a plan that does not exist or lacks limits: %j', async (plan, message) => {
      const response = await unchanged(() => sendAsAdmin('POST /admin/keys', { name: 'x', plan }));
      expectError(response, 400, 'invalid_request', expect.stringMatching(message));
    });

    it('returns 400 for an expiry at the current instant', async () => {
      const now = inFuture(0);
      admin.store.clock.stopAt(now);
      const at = (expiresAt: Date) => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free', expiresAt });
      const message = 'The request is invalid: expiresAt must be in the future.';
      expectError(await at(now), 400, 'invalid_request', message);
      expect((await at(new Date(now.getTime() + 1))).status).toBe(201);
    });
  });
});

describe('GET /admin/keys/{id}', () => {
  const unknown = ['x', UNKNOWN_ID, `${UNKNOWN_ID}0`, UNKNOWN_ID.replaceAll('-', ''), '%00', "'%20OR%201=1"];
  it.each(unknown)('returns 404 for an unknown id, as every operation on one key does: %s', async (id) => {
    const [key, body] = [{ id }, { plan: 'pro' }];
    for (const response of [
      await sendAsAdmin(`GET /admin/keys/${id}`),
      await sendAsAdmin(`PATCH /admin/keys/${id}`, body),
      await rotate(key),
      await revoke(key),
      await unban(key),
      await label(key, { name: 'x' }),
      await rateLimit(key),
    ]) {
      expectError(response, 404, 'not_found', `There is no key with the id "${decodeURIComponent(id)}".`);
      expectRateLimitHeaders(response);
    }
  });
});

describe('GET /admin/keys', () => {
  const idsOf = ({ json }: HttpResponse): string[] => (json as Key[]).map(({ id }) => id);

  /** Returns the ids of the keys on each page. */
  async function walk(query: string, between?: () => Promise<unknown>): Promise<string[][]> {
    const get = (target: string) => sendAsAdmin(`GET ${target}`);
    const pages = await readPages<Key>(get, `/admin/keys${query}`, between);
    return pages.map((keys) => keys.map(({ id }) => id));
  }

  async function issueMany(count: number, input: Record<string, unknown>): Promise<IssuedKey[]> {
    const keys: IssuedKey[] = [];
    for (let issued = 0; issued < count; issued += 1) {
      keys.push(await issue(input));
    }
    return keys;
  }

  it('returns 200 with a bare array of keys, oldest first, each as GET /admin/keys/{id} returns it', async () => {
    await createPlan('listed');
    const keys = await issueMany(3, { plan: 'listed' });
    const response = await sendAsAdmin('GET /admin/keys?plan=listed&limit=3');
    expect(response.status).toBe(200);
    expect(response.json).toEqual(keys.map(listed));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    // A last page that is full has no next page.
    expect(linksOf(response)).toEqual({ first: '/admin/keys?limit=3&plan=listed' });
    expectRateLimitHeaders(response);
  });

  it('returns 20 keys by default, and an empty array when there are none', async () => {
    await createPlan('many');
    await issueMany(21, { plan: 'many' });
    const first = await sendAsAdmin('GET /admin/keys?plan=many');
    expect(first.json).toHaveLength(20);
    expect(linksOf(first)['first']).toBe('/admin/keys?limit=20&plan=many');
    const none = await sendAsAdmin('GET /admin/keys?plan=nothing-is-on-it');
    expect([none.status, none.text]).toEqual([200, '[]']);
  });

  it('returns each existing key exactly once over all pages, while others are issued', async () => {
    const existing = await admin.store.database.query<{ id: string }>('SELECT id FROM api_keys ORDER BY id');
    const before = existing.map(({ id }) => id);
    const added: string[] = [];
    const pages = await walk('?limit=7', async () => {
      if (added.length < 5) {
        added.push((await issue()).id);
      }
    });
    expect(pages.flat()).toEqual([...before, ...added]);
    expect(before.length).toBeGreaterThan(21);
  });

  it('keeps the filters in the links from page to page', async () => {
    await createPlan('filtered');
    await createPlan('filtered-too');
    const until = inFuture(HOUR_MS);
    const banned: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      const key = await issue({ plan: index % 2 === 0 ? 'filtered' : 'filtered-too' });
      if (index % 3 === 0) {
        await ban(admin.store.database, key, until);
      }
      if (index % 6 === 0) {
        banned.push(key.id);
      }
    }
    const first = await sendAsAdmin('GET /admin/keys?banned=true&limit=1&color=brown&plan=filtered');
    expect(idsOf(first)).toEqual(banned.slice(0, 1));
    expect(first.headers.get('link')).toMatch(
      /^<\/admin\/keys\?limit=1&plan=filtered&banned=true&cursor=[\w-]+>; rel="next", <\/admin\/keys\?limit=1&plan=filtered&banned=true>; rel="first"$/,
    );
    expect((await walk('?limit=1&plan=filtered&banned=true')).flat()).toEqual(banned);
    expect((await walk('?limit=2&plan=filtered&banned=false')).map(({ length }) => length)).toEqual([2, 1]);
    expect((await walk('?limit=3&plan=filtered')).map(({ length }) => length)).toEqual([3, 2]);
  });

  describe('?search', () => {
    const found = async (search: string) => {
      const response = await sendAsAdmin(`GET /admin/keys?limit=100&search=${encodeURIComponent(search)}`);
      expect(response.status).toBe(200);
      return idsOf(response);
    };

    it('returns keys by a part of the name in any case, and by the end of the id or of the key', async () => {
      const key = await issue({ name: 'Jörg_s 100% ÄPFEL & 🐕' });
      await issue({ name: 'Jorgas 100 apples' });
      for (const text of ['jörg_s', '100%', 'äpfel & 🐕', key.name, key.id, key.id.slice(-9).toUpperCase()]) {
        expect([text, await found(text)]).toEqual([text, [key.id]]);
      }
      expect(await found(key.key.slice(-4))).toContain(key.id);
      expect(await found(key.key.slice(-4).repeat(2))).toEqual([]);
    });

    it('accepts up to 64 characters, and keeps them in links that the document allows', async () => {
      const name = '🐈'.repeat(64);
      const keys = [await issue({ name }), await issue({ name })];
      const query = `?limit=1&plan=free&banned=false&state=active&search=${encodeURIComponent(name)}`;
      expect(await walk(query)).toEqual(keys.map(({ id }) => [id]));
      const { headers } = await sendAsAdmin(`GET /admin/keys${query}`);
      expect(headers.get('link')?.length).toBeLessThanOrEqual(2048);
    });
  });

  it('returns keys by their state: a rotated key is rotating until its overlap ends', async () => {
    const name = 'by state';
    const [active, rotating, expired, revoked, expiring] = [
      await issue({ name }),
      await issue({ name }),
      await issue({ name }),
      await issue({ name }),
      await issue({ name, expiresAt: inFuture(HOUR_MS).toISOString() }),
    ];
    const successors = [
      (await rotate(rotating, { overlapSeconds: 3600 })).json.id,
      (await rotate(expired, { overlapSeconds: 0 })).json.id,
    ];
    await revoke(revoked);
    const inState = async (state: string) =>
      idsOf(await sendAsAdmin(`GET /admin/keys?search=by%20state&state=${state}`));
    expect(await inState('active')).toEqual([active.id, expiring.id, ...successors]);
    expect(await inState('rotating')).toEqual([rotating.id]);
    expect(await inState('expired')).toEqual([expired.id]);
    expect(await inState('revoked')).toEqual([revoked.id]);
    admin.store.clock.stopAt(inFuture(HOUR_MS));
    expect(await inState('rotating')).toEqual([]);
    expect(await inState('expired')).toEqual([rotating.id, expired.id, expiring.id]);
  });

  it('ignores unknown parameters, also repeated ones', async () => {
    const { status } = await sendAsAdmin('GET /admin/keys?limit=1&color=a&color=b&__proto__=1');
    expect(status).toBe(200);
  });

  describe('with an invalid parameter', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';
    const BANNED = 'banned must be true or false';
    const CONTROLS = 'search must be text without control characters';

    it.each([
      ...['0', '101', '1.0', ''].map((limit) => [`limit=${limit}`, LIMIT]),
      // Also cursors of other lists: the number of an animal or an audit event, the name of a plan.
      ...['7', 'free', '', `${UNKNOWN_ID}\0`].map((position) => [`cursor=${encodeCursor(position)}`, CURSOR]),
      ...['', '=', '=1', '=TRUE', '=%00'].map((banned) => [`banned${banned}`, BANNED]),
      ...['', '%00', 'Free', "'%20OR%201=1", 'x'.repeat(64)].map((plan) => [
        `plan=${plan}`,
        'plan must be the name of a plan',
      ]),
      ...['', 'Active', 'banned', 'active%00', 'active,revoked'].map((state) => [
        `state=${state}`,
        'state must be one of active, rotating, expired, revoked',
      ]),
      ...['', '=', `=${'x'.repeat(65)}`].map((search) => [
        `search${search}`,
        'search must have 1 to 64 characters',
      ]),
      ...['%00', 'a%1Bb', '%C2%9B', '%E2%80%AE'].map((search) => [`search=${search}`, CONTROLS]),
      ...['banned=true', 'search=a', 'state=active', 'plan=free', 'limit=5', 'cursor=x'].map((given) => [
        `${given}&${given}`,
        `${given.split('=')[0]} must be given once`,
      ]),
      ['limit=0&plan=a&plan=b&banned=x&cursor=x', `${LIMIT}; plan must be given once; ${BANNED}; ${CURSOR}`],
    ])('returns 400 that names the parameter: %s', async (query, faults) => {
      const response = await sendAsAdmin(`GET /admin/keys?${query}`);
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expect(response.headers.get('link')).toBeNull();
    });
  });
});

describe('POST /admin/keys/{id}/rotate', () => {
  it('returns 201 with a successor of the same name, note, role and quota, whose key is shown only this once', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue({
      name: 'warehouse',
      note: 'by the gate',
      role: 'admin',
      plan: 'pro',
      perMinute: 9,
      perDay: 90,
    });
    const response = await rotate(old);
    expect(response.status).toBe(201);
    expect(response.json).toEqual({
      ...shown(old),
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      lastFour: response.json.key.slice(-4),
      createdAt: expect.any(String),
      predecessorId: old.id,
      successorId: null,
    });
    expect(response.json.id).not.toBe(old.id);
    expect(response.json.key).not.toBe(old.key);
    expect(response.headers.get('location')).toBe(`/admin/keys/${response.json.id}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expectRateLimitHeaders(response);
    expect(await find(old)).toEqual({
      ...listed(old),
      state: 'rotating',
      expiresAt: new Date(now.getTime() + DAY_MS).toISOString(),
      successorId: response.json.id,
    });
    expect(await find(response.json)).toEqual(listed(response.json));
  });

  it('counts both keys in the same windows', async () => {
    const old = await issue();
    admin.store.clock.travelToMinuteStart();
    expect(remaining(await use(old.key))).toBe(59);
    const { key } = (await rotate(old)).json;
    const left: number[] = [];
    for (const each of [key, old.key, key, old.key]) {
      left.push(remaining(await use(each)));
    }
    expect(left).toEqual([58, 57, 56, 55]);
  });

  it.each([
    ['24 hours by default', undefined, DAY_MS],
    ['24 hours with an empty body', {}, DAY_MS],
    ['the given number of seconds', { overlapSeconds: 90 }, 90_000],
    ['at most a year', { overlapSeconds: 31_536_000 }, 365 * DAY_MS],
  ])('accepts both keys for %s, to the millisecond', async (_what, body, overlapMs) => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue();
    const { key } = (await rotate(old, body)).json;
    admin.store.clock.stopAt(new Date(now.getTime() + overlapMs - 1));
    expect([(await use(old.key)).status, (await use(key)).status]).toEqual([200, 200]);
    admin.store.clock.stopAt(new Date(now.getTime() + overlapMs));
    expectError(await use(old.key), 401, 'invalid_api_key', 'The API key has expired.');
    expect((await use(key)).status).toBe(200);
  });

  it('ends the old key within a second when the overlap is 0, even if it is in use', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    expect((await use(key.key)).status).toBe(200);
    const { json } = await rotate(key, { overlapSeconds: 0 });
    expect((await use(json.key)).status).toBe(200);
    expectError(await withinASecond(key.key, ({ status }) => status === 401), 401, 'invalid_api_key');
  });

  it('ends the old key no later than its own expiry, which the successor inherits', async () => {
    const expiresAt = inFuture(HOUR_MS).toISOString();
    const old = await issue({ expiresAt });
    const successor = (await rotate(old)).json;
    expect(successor.expiresAt).toBe(expiresAt);
    expect((await find(old)).expiresAt).toBe(expiresAt);
    admin.store.clock.stopAt(new Date(expiresAt));
    expect([(await use(old.key)).status, (await use(successor.key)).status]).toEqual([401, 401]);
  });

  it.each([
    ['later than that of the old key, which keeps its own', 2 * DAY_MS],
    ['earlier than that of the old key', HOUR_MS / 2],
  ])('gives the successor its own expiry when one is given: %s', async (_what, milliseconds) => {
    const old = await issue({ expiresAt: inFuture(HOUR_MS).toISOString() });
    const expiresAt = inFuture(milliseconds).toISOString();
    const { status, json } = await rotate(old, { expiresAt });
    expect([status, json.expiresAt]).toEqual([201, expiresAt]);
    expect((await find(old)).expiresAt).toBe(old.expiresAt);
  });

  it('can be repeated with the successor, on the same quota', async () => {
    const first = await issue();
    const second = (await rotate(first)).json;
    const third = (await rotate(second)).json;
    expect([second.quotaId, third.quotaId]).toEqual([first.quotaId, first.quotaId]);
    expect(await find(second)).toMatchObject({ predecessorId: first.id, successorId: third.id });
    expect(await find(third)).toMatchObject({ predecessorId: second.id, successorId: null });
  });

  it('succeeds exactly once when several are concurrent; the others get 409', async () => {
    const name = 'contested';
    const old = await issue({ name });
    const responses = await Promise.all(Array.from({ length: 6 }, () => rotate(old)));
    const [winner, ...others] = responses.toSorted((one, other) => one.status - other.status);
    expect(winner?.status).toBe(201);
    const message = `The key was rotated already. Rotate its successor ${winner?.json.id}.`;
    others.forEach((other) => expectError(other, 409, 'conflict', message));
    const { json: keys } = await sendAsAdmin(`GET /admin/keys?limit=100&search=${name}`);
    expect(keys).toHaveLength(2);
    expect(await auditOf(old, 'key.rotated')).toHaveLength(1);
  });

  it.each<[string, (key: IssuedKey) => Promise<unknown>, string]>([
    ['revoked', revoke, 'The key is revoked, so it cannot be rotated. Issue a new one.'],
    ['rotated', rotate, 'The key was rotated already. Rotate its successor ID.'],
    [
      'expired',
      async ({ expiresAt }) => admin.store.clock.stopAt(new Date(String(expiresAt))),
      'The key is expired, so it cannot be rotated. Issue a new one.',
    ],
  ])('returns 409 conflict and changes nothing when the key is %s', async (_state, end, message) => {
    const key = await issue({ expiresAt: inFuture(HOUR_MS).toISOString() });
    await end(key);
    const { successorId } = await find(key);
    const response = await unchanged(() => rotate(key));
    expectError(response, 409, 'conflict', message.replace('ID', String(successorId)));
  });

  it.each([
    ...['-1', '31536001', '5.0', '1e3', '"24h"', 'null'].map((value) => [
      `{"overlapSeconds":${value}}`,
      `overlapSeconds ${OVERLAP}`,
    ]),
    ['{"expiresAt":"2020-01-01T00:00:00Z"}', 'expiresAt must be in the future'],
    ['{"expiresAt":"2999-01-01T00:00:00"}', `expiresAt ${INSTANT}`],
    ['{"expiresAt":null}', `expiresAt ${INSTANT}`],
    ['{"overlapSeconds":-1,"expiresAt":"soon"}', `overlapSeconds ${OVERLAP}; expiresAt ${INSTANT}`],
    ['[]', 'the body must be a JSON object'],
  ])('returns 400 and changes nothing for an invalid body: %s', async (body, faults) => {
    const key = await issue();
    const response = await unchanged(() => rotate(key, body));
    expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
  });
});

describe('POST /admin/keys/{id}/revoke', () => {
  it('returns 200 with the key, which gets 401 from then on', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const key = await issue();
    const response = await revoke(key);
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ ...shown(key), state: 'revoked', revokedAt: now.toISOString() });
    expect(response.headers.get('cache-control')).toBeNull();
    expectRateLimitHeaders(response);
    expectError(await use(key.key), 401, 'invalid_api_key', 'The API key was revoked.');
  });

  it('returns 200 for a revoked key too, and keeps the instant of revocation', async () => {
    const key = await issue();
    const first = await revoke(key);
    admin.store.clock.travel(1000);
    const again = await revoke(key);
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  it('does not change the successor or the predecessor of the key', async () => {
    const [old, other] = [await issue(), await issue()];
    const successor = (await rotate(old)).json;
    await revoke(old);
    expect((await use(successor.key)).status).toBe(200);
    const otherSuccessor = (await rotate(other)).json;
    await revoke(otherSuccessor);
    expect((await use(other.key)).status).toBe(200);
  });
});

describe('PATCH /admin/keys/{id}', () => {
  const change = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PATCH /admin/keys/${id}`, body);
  const usedBy = ({ quotaId }: Key) =>
    admin.store.database.query<{ minute_used: number; day_used: number }>(
      'SELECT minute_used, day_used FROM rate_limit_counters WHERE bucket_key = $1',
      [`quota:${quotaId}`],
    );

  it('returns 200 with the key on its new plan, and keeps the counts', async () => {
    const key = await issue();
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 3; sent += 1) {
      await use(key.key);
    }
    const response = await change(key, { plan: 'pro' });
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ ...shown(key), plan: 'pro', perMinute: 300, perDay: 10_000 });
    expect(response.headers.get('cache-control')).toBeNull();
    expectRateLimitHeaders(response);
    expect(await usedBy(key)).toEqual([{ minute_used: 3, day_used: 3 }]);

    const updated = await withinASecond(key.key, ({ headers }) => headers.get('x-ratelimit-limit') === '300');
    const [counted] = await usedBy(key);
    expect(updated.headers.get('x-ratelimit-limit')).toBe('300');
    expect(remaining(updated)).toBe(300 - (counted?.minute_used ?? NaN));
  });

  it('leaves 0 remaining when the usage exceeds the new limits', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 5; sent += 1) {
      await use(key.key);
    }
    await change(key, { plan: 'enterprise', perMinute: 2, perDay: 2_000_000 });
    const updated = await withinASecond(key.key, ({ status }) => status === 429);
    expectError(updated, 429, 'rate_limit_exceeded');
    expect([updated.headers.get('x-ratelimit-limit'), remaining(updated)]).toEqual(['2', 0]);
  });

  it('sets own limits, and returns to those of the plan when none are given', async () => {
    const key = await issue();
    const own = await change(key, { plan: 'enterprise', perMinute: 5000, perDay: 1_000_000 });
    expect(own.json).toMatchObject({
      plan: 'enterprise',
      perMinute: 5000,
      perDay: 1_000_000,
      ownLimits: true,
    });
    const without = await change(key, { plan: 'free' });
    expect(without.json).toEqual(shown(key));
  });

  it('applies to a key and its successor, which share the quota', async () => {
    const old = await issue();
    const successor = (await rotate(old)).json;
    await change(old, { plan: 'business' });
    expect([(await find(old)).plan, (await find(successor)).plan]).toEqual(['business', 'business']);
  });

  it('ignores unknown fields, so name, role and expiry do not change', async () => {
    const key = await issue();
    const fields = { plan: 'pro', name: 'other', role: 'admin', expiresAt: '2999-01-01T00:00:00Z' };
    expect((await change(key, fields)).json).toMatchObject({ name: 'test', role: 'client', expiresAt: null });
  });

  it.each([
    ['{}', 'The request is invalid: plan is required.'],
    ['{"perMinute":5,"perDay":5}', 'The request is invalid: plan is required.'],
    ['{"plan":"pro","perDay":5}', 'The request is invalid: perMinute is required with perDay.'],
    [
      '{"plan":null,"perMinute":0,"perDay":2147483648}',
      `The request is invalid: plan must be a string; perMinute ${INTEGER}; perDay ${INTEGER}.`,
    ],
    ['[]', 'The request is invalid: the body must be a JSON object.'],
    ['{"plan":"gold"}', expect.stringMatching(/^There is no plan "gold"; the plans are /)],
    ['{"plan":"\\u0000"}', expect.stringMatching(/^There is no plan /)],
    [
      '{"plan":"enterprise"}',
      'Plan "enterprise" has no limits of its own; give those per minute and per day.',
    ],
  ])('returns 400 and changes nothing for an invalid body: %s', async (body, message) => {
    const key = await issue();
    expectError(await unchanged(() => change(key, body)), 400, 'invalid_request', message);
  });
});

describe('GET /admin/keys/{id}/rate-limit', () => {
  it('returns 200 with the status that the key gets, and counts nothing', async () => {
    const key = await issue({ plan: 'pro' });
    admin.store.clock.travelToMinuteStart();
    await use(key.key);
    const response = await rateLimit(key);
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
    expect(response.json).toEqual((await send(`${admin.store.url}/v1/rate-limit`, { key: key.key })).json);
    expect((await rateLimit(key)).json).toMatchObject({
      plan: 'pro',
      windows: [
        { name: 'minute', limit: 300, remaining: 299 },
        { name: 'day', limit: 10_000, remaining: 9999 },
      ],
      refusalsUntilBan: 300,
      bannedUntil: null,
    });
  });

  it('returns the status of the quota for a revoked key, its successor, and a banned one', async () => {
    const key = await issue({ plan: 'pro', perMinute: 5, perDay: 50 });
    const successor = (await rotate(key)).json;
    await use(successor.key);
    await revoke(key);
    const { json } = await rateLimit(key);
    expect(json.windows).toMatchObject([
      { limit: 5, remaining: 4 },
      { limit: 50, remaining: 49 },
    ]);
    expect((await rateLimit(successor)).json).toEqual(json);
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    expect((await rateLimit(key)).json).toMatchObject({
      bannedUntil: until.toISOString(),
      refusalsUntilBan: 0,
    });
  });

  it('returns no windows for a quota that was left without limits by SQL', async () => {
    const key = await issue();
    await admin.store.database.query("UPDATE quotas SET plan = 'enterprise' WHERE id = $1", [key.quotaId]);
    expect((await rateLimit(key)).json).toEqual({
      plan: 'enterprise',
      windows: [],
      refusalsUntilBan: null,
      bannedUntil: null,
    });
  });

  it('returns 503 while the counter store is away, as it would be the count of this replica alone', async () => {
    const key = await issue();
    const counters = admin.store.app.get(CounterStore);
    const known = await counters.peek({ bucketKey: 'quota:x', perMinute: 1, perDay: 1 });
    const peek = jest.spyOn(counters, 'peek').mockResolvedValue({ ...known, degraded: true });
    expectError(await rateLimit(key), 503, 'service_unavailable');
    peek.mockRestore();
  });
});

describe('PUT /admin/keys/{id}/label', () => {
  it('returns 200 with the key, its new name and its new note', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    const response = await label(key, { name: 'Bob', note: 'second', role: 'admin', plan: 'pro' });
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ ...shown(key), name: 'Bob', note: 'second' });
    expectRateLimitHeaders(response);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: 'second' });
  });

  it('removes the note when none is given', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    expect((await label(key, { name: 'Ann' })).json).toEqual({ ...shown(key), note: null });
  });

  it('changes only what a change at the terminal gives, beside another change', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    const keys = admin.store.app.get(KeyService);
    await Promise.all([
      keys.label(key.id, { note: 'second' }, TERMINAL),
      keys.label(key.id, { name: 'Bob' }, TERMINAL),
    ]);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: 'second' });
    await keys.label(key.id, { note: null }, TERMINAL);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: null });
  });

  it('labels a revoked key too, and leaves its successor as it is', async () => {
    const key = await issue({ name: 'Ann' });
    const successor = (await rotate(key)).json;
    await revoke(key);
    expect((await label(key, { name: 'old' })).json).toMatchObject({ name: 'old', state: 'revoked' });
    expect((await find(successor)).name).toBe('Ann');
  });

  it.each([
    ['{}', 'name is required'],
    ['{"name":"x","note":null}', 'note must be a string'],
    ['{"name":" ","note":""}', 'name must not be blank; note must not be blank'],
    ['{"name":"x","note":"a\\u0000b"}', 'note must be text without control characters'],
    [JSON.stringify({ name: 'x', note: 'x'.repeat(1001) }), 'note must have at most 1000 characters'],
    ['[]', 'the body must be a JSON object'],
  ])('returns 400 and changes nothing for an invalid body: %s', async (body, faults) => {
    const key = await issue();
    const response = await unchanged(() => label(key, body));
    expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
  });
});

describe('/admin/keys/{id}', () => {
  it('accepts an id in upper case', async () => {
    const key = await issue();
    expect((await find({ id: key.id.toUpperCase() })).id).toBe(key.id);
    expect((await revoke({ id: key.id.toUpperCase() })).json).toMatchObject({ id: key.id, state: 'revoked' });
  });

  it.each(['rotate', 'revoke', 'unban'])(
    'needs no body for /%s, even when Content-Type is set, but returns 400 for one that is not JSON',
    async (action) => {
      const { id } = await issue();
      const malformed = await unchanged(() => sendAsAdmin(`POST /admin/keys/${id}/${action}`, '{'));
      expectError(malformed, 400, 'invalid_request');
      const { status } = await send(`${admin.store.url}/admin/keys/${id}/${action}`, {
        method: 'POST',
        key: admin.administrator.key,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(status).toBe(action === 'rotate' ? 201 : 200);
    },
  );
});

describe('a ban', () => {
  const until = () => inFuture(HOUR_MS);
  const isListed = async (banned: boolean, { id }: { id: string }) =>
    (await sendAsAdmin(`GET /admin/keys?limit=100&plan=bans&banned=${banned}`)).json.some(
      (key: Key) => key.id === id,
    );

  beforeAll(() => createPlan('bans'));

  it('is shown on every key of the quota until its end, and on no other key', async () => {
    const [key, other] = [await issue({ plan: 'bans' }), await issue({ plan: 'bans' })];
    const successor = (await rotate(key)).json;
    const end = until();
    await ban(admin.store.database, key, end);
    for (const banned of [key, successor]) {
      expect((await find(banned)).bannedUntil).toBe(end.toISOString());
      expect([await isListed(true, banned), await isListed(false, banned)]).toEqual([true, false]);
    }
    expect((await find(other)).bannedUntil).toBeNull();
    expect([await isListed(true, other), await isListed(false, other)]).toEqual([false, true]);
  });

  it('is neither shown nor lifted after its end', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    admin.store.clock.travel(HOUR_MS);
    expect((await find(key)).bannedUntil).toBeNull();
    expect(await isListed(true, key)).toBe(false);
    expect((await unchanged(() => unban(key))).json).toEqual(shown(key));
  });

  it('is lifted at once for every key of the quota', async () => {
    const key = await issue({ plan: 'bans' });
    const successor = (await rotate(key)).json;
    await ban(admin.store.database, key, until());
    const response = await unban(successor);
    expect(response.status).toBe(200);
    expect(response.json).toEqual(shown(successor));
    expectRateLimitHeaders(response);
    expect((await find(key)).bannedUntil).toBeNull();
    expect((await bannedUntil(admin.store.database, key))?.getTime()).toBeLessThanOrEqual(
      admin.store.clock.now(),
    );
  });

  it('is lifted once when several requests lift it concurrently', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    const responses = await Promise.all(Array.from({ length: 5 }, () => unban(key)));
    for (const { status, json } of responses) {
      expect([status, json.bannedUntil]).toEqual([200, null]);
    }
    expect(await auditOf(key, 'key.unbanned')).toHaveLength(1);
  });
});

describe('a change after which the counter store is away', () => {
  it('returns 200 with the bans read before the change, as 503 would mean that nothing was changed', async () => {
    const [revoked, moved, freed] = [await issue(), await issue(), await issue()];
    await ban(admin.store.database, freed, inFuture(HOUR_MS));
    const counters = admin.store.app.get(CounterStore);
    const away = new CounterStoreError('refused', new Error('away'));
    for (const action of [
      () => revoke(revoked),
      () => sendAsAdmin(`PATCH /admin/keys/${moved.id}`, { plan: 'pro' }),
      () => unban(freed),
    ]) {
      const known = await counters.bans();
      const bans = jest.spyOn(counters, 'bans').mockRejectedValue(away).mockResolvedValueOnce(known);
      try {
        expect((await action()).status).toBe(200);
      } finally {
        bans.mockRestore();
      }
    }
    expect((await find(revoked)).state).toBe('revoked');
    expect((await find(moved)).plan).toBe('pro');
    expect((await find(freed)).bannedUntil).toBeNull();
  });
});

describe('an issued key', () => {
  it('is returned even when the bans cannot be read, as it is shown only once', async () => {
    const keys = admin.store.app.get(KeyService);
    await admin.store.database.query('ALTER TABLE rate_limit_counters RENAME TO counters_away');
    try {
      const { id, key } = await keys.issue({ name: 'x', plan: 'free' }, 'terminal');
      expect(key).toMatch(/^ask_test_/);
      // A response must not show a banned quota as not banned, so the rotation fails and changes nothing.
      await expect(keys.rotate(id, {}, 'terminal')).rejects.toThrow('rate_limit_counters');
      expect(
        await admin.store.database.query('SELECT id FROM api_keys WHERE predecessor_id = $1', [id]),
      ).toEqual([]);
    } finally {
      await admin.store.database.query('ALTER TABLE counters_away RENAME TO rate_limit_counters');
    }
  });

  it('is in no other response and no other table, and its hash only in api_keys', async () => {
    const first = await issue();
    const second: IssuedKey = (await rotate(first)).json;
    const keys = [first.key, second.key];
    const responses = [
      await sendAsAdmin('GET /admin/keys?limit=100'),
      await sendAsAdmin(`GET /admin/keys/${first.id}`),
      await sendAsAdmin(`PATCH /admin/keys/${first.id}`, { plan: 'pro' }),
      await rotate(first),
      await unban(second),
      await revoke(second),
      await sendAsAdmin('GET /admin/audit?limit=100'),
    ];
    expectNoSecrets(responses.map(({ text }) => text).join('\n'), keys);
    const tables = await admin.store.database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'api_keys'",
    );
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['audit_events', 'quotas']));
    for (const { name } of tables) {
      expectNoSecrets(
        JSON.stringify(await admin.store.database.query(`SELECT t::text FROM ${name} t`)),
        keys,
      );
    }
    const [kept] = await admin.store.database.query<{ hash: Buffer; line: string }>(
      'SELECT hash, t::text AS line FROM api_keys t WHERE id = $1',
      [first.id],
    );
    expect(kept?.hash).toEqual(createHash('sha256').update(first.key).digest());
    expect(kept?.line).not.toContain(first.key.slice(9));
  });
});
