import { createHash } from 'node:crypto';
import type { IssuedKey, Key } from '../src/admin/key.schemas.js';
import { KeyService } from '../src/admin/key.service.js';
import { encodeCursor } from '../src/http/pagination.js';
import { CounterStore, CounterStoreError } from '../src/rate-limit/stores/counter-store.js';
import { type Administration, startAdministration } from './support/administration.js';
import { ban, bannedUntil } from './support/bans.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { linksOf } from './support/links.js';
import { expectNoSecrets } from './support/secrets.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NOBODY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
const INTEGER = 'must be an integer from 1 to 2147483647, written as digits';
const OVERLAP = 'must be an integer from 0 to 31536000, written as digits';
const INSTANT = 'must be a date-time with its offset, such as 2027-01-01T00:00:00Z';

let admin: Administration;
let ask: Administration['ask'];
let issue: Administration['issue'];

beforeAll(async () => {
  admin = await startAdministration();
  ({ ask, issue } = admin);
});
afterAll(() => admin.store.close());
afterEach(() => admin.store.clock.goOn());

const use = (key: string) => send(`${admin.store.url}/v1/pets`, { key });
const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));
const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
/** A key as it is shown from its issue on. */
const shown = ({ key: _key, ...rest }: IssuedKey): Key => rest;
const find = async ({ id }: { id: string }): Promise<Key> => (await ask(`GET /admin/keys/${id}`)).json;
const rotate = ({ id }: { id: string }, body?: unknown) => ask(`POST /admin/keys/${id}/rotate`, body);
const revoke = ({ id }: { id: string }) => ask(`POST /admin/keys/${id}/revoke`);
const unban = ({ id }: { id: string }) => ask(`POST /admin/keys/${id}/unban`);

/** All that administration keeps: what is refused leaves it as it is. */
async function everything(): Promise<string> {
  const tables = ['api_keys', 'quotas', 'plans', 'audit_entries'];
  const rows = await Promise.all(
    tables.map((table) => admin.store.database.query(`SELECT t::text FROM ${table} t ORDER BY 1`)),
  );
  return JSON.stringify(rows);
}

async function makePlan(name: string, perMinute = 100, perDay = 1000): Promise<void> {
  expect((await ask(`PUT /admin/plans/${name}`, { perMinute, perDay })).status).toBe(201);
}

/** Asks without a pause until the answer is as wanted, for a second at the most. */
async function withinASecond(key: string, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + 1000;
  let answer: Answer;
  let askedAt: number;
  do {
    askedAt = performance.now();
    answer = await use(key);
  } while (!isWanted(answer) && askedAt < deadline);
  return answer;
}

describe('/admin', () => {
  const OPERATIONS = [
    'GET /admin/keys',
    'POST /admin/keys',
    `GET /admin/keys/${NOBODY}`,
    `PATCH /admin/keys/${NOBODY}`,
    `POST /admin/keys/${NOBODY}/rotate`,
    `POST /admin/keys/${NOBODY}/revoke`,
    `POST /admin/keys/${NOBODY}/unban`,
    'GET /admin/plans',
    'GET /admin/plans/free',
    'PUT /admin/plans/free',
    'GET /admin/audit',
  ];
  const OTHERS = ['GET /admin', 'GET /admin/', 'GET /admin/nothing', 'DELETE /admin/keys', 'PUT /admin/%zz'];
  let client: IssuedKey;

  beforeAll(async () => {
    client = await issue({ plan: 'business' });
  });

  it.each([...OPERATIONS, ...OTHERS])("is 403 forbidden for a client's key: %s", async (request) => {
    const [method = '', path = ''] = request.split(' ');
    const before = await everything();
    const body = { perMinute: 1, perDay: 1, name: 'x', plan: 'free' };
    const answer = await send(admin.store.url + path, {
      method,
      key: client.key,
      ...(method !== 'GET' && { body }),
    });
    expectError(answer, 403, 'forbidden', 'This needs an API key whose role is admin.');
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('1000');
    expect(answer.headers.get('allow')).toBeNull();
    expect(await everything()).toBe(before);
  });

  it.each(OPERATIONS)('is 401 without a key: %s', async (request) => {
    const [method = '', path = ''] = request.split(' ');
    const answer = await send(admin.store.url + path, { method });
    expectError(answer, 401, 'missing_api_key');
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
  });

  it.each([
    ['is no JSON', { body: '{' }, 400, 'invalid_request', /^The body is not JSON: /],
    ['is too large', { body: `"${'x'.repeat(70_000)}"` }, 413, 'payload_too_large', /64 KiB/],
    [
      'is of another type',
      { body: 'name=x', headers: { 'Content-Type': 'text/plain' } },
      415,
      'unsupported_media_type',
      /application\/json/,
    ],
    ['is missing', {}, 400, 'invalid_request', /must be a JSON object/],
  ])(
    'judges the key, then its role, then the body: one that %s',
    async (_what, init, status, code, message) => {
      const url = `${admin.store.url}/admin/keys`;
      expectError(await send(url, { method: 'POST', ...init }), 401, 'missing_api_key');
      const forbidden = await send(url, { method: 'POST', key: client.key, ...init });
      expectError(forbidden, 403, 'forbidden');
      expectRateLimitHeaders(forbidden);
      const refused = await send(url, { method: 'POST', key: admin.administrator.key, ...init });
      expectError(refused, status, code, expect.stringMatching(message));
      expectRateLimitHeaders(refused);
    },
  );

  it("judges the rate before the role, and counts what the role forbids against the client's quota", async () => {
    const { key } = await issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    admin.store.clock.travelToMinuteStart();
    const answers: Answer[] = [];
    for (const path of ['/admin/keys', '/v1/pets', '/admin/keys']) {
      answers.push(await send(admin.store.url + path, { key }));
    }
    expect(answers.map(({ status }) => status)).toEqual([403, 200, 429]);
    expect(answers.map(remaining)).toEqual([1, 0, 0]);
    expect(answers[2]?.json.code).toBe('rate_limit_exceeded');
  });

  it('is for any key whose role is admin, whatever its plan, until that is revoked', async () => {
    const other = await issue({ role: 'admin', plan: 'free' });
    const listed = await send(`${admin.store.url}/admin/keys?limit=1`, { key: other.key });
    expect(listed.status).toBe(200);
    expect(listed.headers.get('x-ratelimit-limit')).toBe('60');
    const another = await issue({ role: 'admin' });
    expect((await revoke(another)).status).toBe(200);
    expectError(await send(`${admin.store.url}/admin/keys`, { key: another.key }), 401, 'invalid_api_key');
  });

  it.each([
    ['DELETE /admin/keys', 'GET, HEAD, POST'],
    [`DELETE /admin/keys/${NOBODY}`, 'GET, HEAD, PATCH'],
    [`PUT /admin/keys/${NOBODY}`, 'GET, HEAD, PATCH'],
    [`GET /admin/keys/${NOBODY}/rotate`, 'POST'],
    [`GET /admin/keys/${NOBODY}/revoke`, 'POST'],
    [`DELETE /admin/keys/${NOBODY}/unban`, 'POST'],
    ['POST /admin/plans', 'GET, HEAD'],
    ['DELETE /admin/plans/free', 'GET, HEAD, PUT'],
    ['DELETE /admin/audit', 'GET, HEAD'],
    ['POST /admin/audit', 'GET, HEAD'],
  ])('answers 405 with Allow to another method: %s', async (request, allow) => {
    const answer = await ask(request);
    expectError(answer, 405, 'method_not_allowed', expect.stringContaining(allow));
    expect(answer.headers.get('allow')).toBe(allow);
    expectRateLimitHeaders(answer);
  });

  it.each([
    '/admin',
    '/admin/',
    '/admin/nothing',
    '/admin/keys/',
    `/admin/keys/${NOBODY}/burn`,
    '/admin/key',
  ])('is 404 where there is nothing: %s', async (path) => {
    const answer = await ask(`GET ${path}`);
    expectError(answer, 404, 'not_found', expect.stringContaining(path));
    expectRateLimitHeaders(answer);
  });

  it('answers HEAD as GET, without the body, and counts it', async () => {
    const { id } = await issue();
    for (const path of ['/admin/keys?limit=1', `/admin/keys/${id}`]) {
      const got = await ask(`GET ${path}`);
      const headed = await ask(`HEAD ${path}`);
      expect([headed.status, headed.text]).toEqual([200, '']);
      expect(headed.headers.get('content-type')).toBe(got.headers.get('content-type'));
      expect(headed.headers.get('link')).toBe(got.headers.get('link'));
      expect(remaining(headed)).toBe(remaining(got) - 1);
    }
    expect((await ask(`HEAD /admin/keys/${NOBODY}`)).status).toBe(404);
  });
});

describe('issueKey', () => {
  it("answers 201 with all of the key, which is shown this once, on its plan's numbers", async () => {
    const answer = await ask('POST /admin/keys', { name: "Ann's shop", plan: 'pro' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      name: "Ann's shop",
      role: 'client',
      state: 'active',
      prefix: 'ask_test_',
      lastFour: answer.json.key.slice(-4),
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
    expect(answer.headers.get('location')).toBe(`/admin/keys/${answer.json.id}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expectRateLimitHeaders(answer);

    const read = await ask(`GET ${answer.headers.get('location')}`);
    expect([read.status, read.json]).toEqual([200, shown(answer.json)]);
    const used = await use(answer.json.key);
    expect([used.status, used.headers.get('x-ratelimit-limit'), remaining(used)]).toEqual([200, '300', 299]);
  });

  it('gives each key a quota of its own', async () => {
    const [one, other] = [await issue(), await issue()];
    expect(one.quotaId).not.toBe(other.quotaId);
    expect(one.key).not.toBe(other.key);
    await use(one.key);
    expect(remaining(await use(other.key))).toBe(59);
  });

  it("takes own numbers in place of the plan's, up to the greatest int32", async () => {
    const own = await issue({ plan: 'enterprise', perMinute: 7, perDay: 2_147_483_647 });
    expect(own).toMatchObject({ plan: 'enterprise', perMinute: 7, perDay: 2_147_483_647, ownLimits: true });
    expect((await use(own.key)).headers.get('ratelimit-policy')).toBe(
      '"minute";q=7;w=60, "day";q=2147483647;w=86400',
    );
    expect(await issue({ plan: 'free', perMinute: 1, perDay: 1 })).toMatchObject({
      plan: 'free',
      perMinute: 1,
      perDay: 1,
      ownLimits: true,
    });
  });

  it('takes a role, and an expiry at any offset', async () => {
    const expiresAt = inFuture(DAY_MS);
    const inTokyo = `${new Date(expiresAt.getTime() + 9 * HOUR_MS).toISOString().slice(0, -1)}+09:00`;
    const key = await issue({ role: 'admin', expiresAt: inTokyo });
    expect(key).toMatchObject({ role: 'admin', state: 'active', expiresAt: expiresAt.toISOString() });
    expect(await issue({ role: 'client' })).toMatchObject({ role: 'client', expiresAt: null });
  });

  it('shows the greatest instant there is as it was given', async () => {
    const { id } = await issue({ expiresAt: '9999-12-31T23:59:59.999Z' });
    expect((await find({ id })).expiresAt).toBe('9999-12-31T23:59:59.999Z');
  });

  it.each([
    ['of one character', 'A'],
    ['of 255 characters outside the basic plane', '🐕'.repeat(255)],
    ['with spaces around it, quotes and markup', ` <b>"Ann's"</b> \\ `],
    ['with a character that only looks blank', '\u200b'],
  ])('keeps a name as it is given: %s', async (_what, name) => {
    const { id } = await issue({ name });
    expect((await find({ id })).name).toBe(name);
  });

  it('ignores unknown fields, and lets nobody choose the key, its id or its quota', async () => {
    const chosen = {
      id: NOBODY,
      quotaId: NOBODY,
      key: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps',
      state: 'revoked',
      revokedAt: '2020-01-01T00:00:00Z',
      bannedUntil: '2999-01-01T00:00:00Z',
      predecessorId: NOBODY,
      '': null,
    };
    const answer = await ask(
      'POST /admin/keys',
      `{"name":"x","plan":"free","__proto__":{"role":"admin"},"constructor":1,${JSON.stringify(chosen).slice(1)}`,
    );
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      role: 'client',
      state: 'active',
      bannedUntil: null,
      predecessorId: null,
    });
    expect([answer.json.id, answer.json.quotaId]).not.toContain(NOBODY);
    expect(answer.json.key).not.toBe(chosen.key);
  });

  describe('refuses with 400 invalid_request, naming what is wrong, and issues nothing:', () => {
    const order = (fields: Record<string, unknown>) => JSON.stringify({ name: 'x', plan: 'free', ...fields });
    const numbers = (perMinute: string, perDay = '5') =>
      `{"name":"x","plan":"free","perMinute":${perMinute},"perDay":${perDay}}`;

    it.each([
      ['{}', 'name is required; plan is required'],
      [order({ name: undefined }), 'name is required'],
      [order({ plan: undefined }), 'plan is required'],
      [order({ name: null }), 'name must be a string'],
      [order({ name: 7 }), 'name must be a string'],
      [order({ name: ['x'] }), 'name must be a string'],
      [order({ name: '' }), 'name must not be blank'],
      [order({ name: ' \u00a0\u3000' }), 'name must not be blank'],
      [order({ name: 'x'.repeat(256) }), 'name must have at most 255 characters'],
      [order({ name: '🐕'.repeat(256) }), 'name must have at most 255 characters'],
      ...['\0', 'a\u0000b', 'a\nb', 'a\tb', '\u001b[31mred', 'a\u007fb', 'a\u0085b', '\ud800'].map((name) => [
        order({ name }),
        'name must be text without control characters',
      ]),
      [order({ plan: null }), 'plan must be a string'],
      [order({ plan: 1 }), 'plan must be a string'],
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
      ].map((value) => [numbers(value), `perMinute ${INTEGER}`]),
      [numbers('5', '0'), `perDay ${INTEGER}`],
      [numbers('5', '2147483648'), `perDay ${INTEGER}`],
      [numbers('0', '"x"'), `perMinute ${INTEGER}; perDay ${INTEGER}`],
      [order({ perMinute: 5 }), 'perDay is required with perMinute'],
      [order({ perDay: 5 }), 'perMinute is required with perDay'],
      ...['king', 'Admin', '', null, 1, 'toString'].map((role) => [
        order({ role }),
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
        '+010000-01-01T00:00:00Z',
        null,
        32_503_680_000,
      ].map((expiresAt) => [order({ expiresAt }), `expiresAt ${INSTANT}`]),
      [order({ expiresAt: '2020-01-01T00:00:00Z' }), 'expiresAt must be in the future'],
      [
        '{"name":" ","plan":7,"perMinute":0,"perDay":"5","role":"king","expiresAt":"soon"}',
        `name must not be blank; plan must be a string; perMinute ${INTEGER}; perDay ${INTEGER}; role must be one of client, admin; expiresAt ${INSTANT}`,
      ],
      [
        '{"name":"","plan":"free","perMinute":5}',
        'name must not be blank; perDay is required with perMinute',
      ],
      ['{"name":7,"perDay":5}', 'name must be a string; plan is required; perMinute is required with perDay'],
      ...['[]', '"x"', 'null', '7', '[{"name":"x","plan":"free"}]'].map((body) => [
        body,
        'the body must be a JSON object',
      ]),
    ])('%s', async (body, faults) => {
      const before = await everything();
      const answer = await ask('POST /admin/keys', body);
      expectError(answer, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expectRateLimitHeaders(answer);
      expect(answer.headers.get('location')).toBeNull();
      expect(await everything()).toBe(before);
    });

    it.each([
      ['gold'],
      ['Free'],
      [''],
      ['free\0'],
      ['\ud800'],
      ['__proto__'],
      ["free'; DROP TABLE plans; --"],
    ])('a plan that there is not: %j', async (plan) => {
      const before = await everything();
      const answer = await ask('POST /admin/keys', { name: 'x', plan });
      expectError(
        answer,
        400,
        'invalid_request',
        expect.stringMatching(/^There is no plan ".*"; the plans are business, enterprise, free, .*pro/s),
      );
      expect(await everything()).toBe(before);
    });

    it('a plan without numbers, where none are given', async () => {
      const before = await everything();
      expectError(
        await ask('POST /admin/keys', { name: 'x', plan: 'enterprise' }),
        400,
        'invalid_request',
        'Plan "enterprise" has no numbers of its own; give those per minute and per day.',
      );
      expect(await everything()).toBe(before);
    });

    it('an expiry at this very instant', async () => {
      const now = inFuture(0);
      admin.store.clock.stopAt(now);
      const at = (expiresAt: Date) => ask('POST /admin/keys', { name: 'x', plan: 'free', expiresAt });
      expectError(
        await at(now),
        400,
        'invalid_request',
        'The request is invalid: expiresAt must be in the future.',
      );
      expect((await at(new Date(now.getTime() + 1))).status).toBe(201);
    });

    it('an expiry beyond the year 9999, which has no date-time of its own', async () => {
      const answer = await ask('POST /admin/keys', {
        name: 'x',
        plan: 'free',
        expiresAt: '9999-12-31T23:59:59-12:00',
      });
      expectError(answer, 400, 'invalid_request', `The request is invalid: expiresAt ${INSTANT}.`);
    });
  });
});

describe('getKey', () => {
  it.each([
    'x',
    '1',
    NOBODY,
    `${NOBODY}0`,
    NOBODY.slice(1),
    NOBODY.replaceAll('-', ''),
    `%7B${NOBODY}%7D`,
    'free',
    '%00',
    "'%20OR%201=1",
    '__proto__',
    '%F0%9F%90%95',
  ])('answers 404, as every operation on one key does, where there is none of this id: %s', async (id) => {
    const message = `There is no key with the id "${decodeURIComponent(id)}".`;
    const body = { plan: 'pro' };
    for (const answer of [
      await ask(`GET /admin/keys/${id}`),
      await ask(`PATCH /admin/keys/${id}`, body),
      await ask(`POST /admin/keys/${id}/rotate`),
      await ask(`POST /admin/keys/${id}/revoke`),
      await ask(`POST /admin/keys/${id}/unban`),
    ]) {
      expectError(answer, 404, 'not_found', message);
      expectRateLimitHeaders(answer);
    }
  });

  it("tells a key that expired, from the very instant on, apart from an active one's", async () => {
    const expiresAt = inFuture(HOUR_MS);
    const key = await issue({ expiresAt: expiresAt.toISOString() });
    admin.store.clock.stopAt(new Date(expiresAt.getTime() - 1));
    expect((await find(key)).state).toBe('active');
    admin.store.clock.stopAt(expiresAt);
    expect((await find(key)).state).toBe('expired');
  });
});

describe('listKeys', () => {
  const idsOf = ({ json }: Answer): string[] => (json as Key[]).map(({ id }) => id);

  /** Follows `rel="next"` to the end; `between` runs after each page. */
  async function walk(query: string, between: () => Promise<unknown> = async () => {}): Promise<string[][]> {
    const pages: string[][] = [];
    let target: string | undefined = `/admin/keys${query}`;
    while (target !== undefined) {
      const answer: Answer = await ask(`GET ${target}`);
      expect(answer.status).toBe(200);
      expectRateLimitHeaders(answer);
      pages.push(idsOf(answer));
      target = linksOf(answer)['next'];
      if (pages.length > 300) {
        throw new Error('The walk does not end');
      }
      await between();
    }
    return pages;
  }

  async function issueMany(count: number, order: Record<string, unknown>): Promise<IssuedKey[]> {
    const keys: IssuedKey[] = [];
    for (let issued = 0; issued < count; issued += 1) {
      keys.push(await issue(order));
    }
    return keys;
  }

  it('answers 200 with a bare array of the keys as they are shown one by one, oldest first', async () => {
    await makePlan('listed');
    const keys = await issueMany(3, { plan: 'listed' });
    const answer = await ask('GET /admin/keys?plan=listed');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(keys.map(shown));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(linksOf(answer)).toEqual({ first: '/admin/keys?limit=20&plan=listed' });
    expectRateLimitHeaders(answer);
  });

  it('shows 20 unless told otherwise, and an empty array where there is none', async () => {
    await makePlan('many');
    await issueMany(21, { plan: 'many' });
    expect((await ask('GET /admin/keys?plan=many')).json).toHaveLength(20);
    expect((await ask('GET /admin/keys?plan=many&limit=100')).json).toHaveLength(21);
    const none = await ask('GET /admin/keys?plan=nothing-is-on-it');
    expect([none.status, none.text]).toEqual([200, '[]']);
  });

  it('walked over all pages shows each key that was there exactly once, while others are issued', async () => {
    const there = await admin.store.database.query<{ id: string }>('SELECT id FROM api_keys ORDER BY id');
    const before = there.map(({ id }) => id);
    const added: string[] = [];
    const pages = await walk('?limit=7', async () => {
      if (added.length < 5) {
        added.push((await issue()).id);
      }
    });
    expect(pages.flat()).toEqual([...before, ...added]);
    expect(before.length).toBeGreaterThan(21);
  });

  it('keeps the filters in the links, and while it is walked', async () => {
    await makePlan('filtered');
    await makePlan('filtered-too');
    const until = inFuture(HOUR_MS);
    const banned: string[] = [];
    for (let place = 0; place < 10; place += 1) {
      const key = await issue({ plan: place % 2 === 0 ? 'filtered' : 'filtered-too' });
      if (place % 3 === 0) {
        await ban(admin.store.database, key, until);
      }
      if (place % 6 === 0) {
        banned.push(key.id);
      }
    }
    const first = await ask('GET /admin/keys?banned=true&limit=1&color=brown&plan=filtered');
    expect(idsOf(first)).toEqual(banned.slice(0, 1));
    expect(first.headers.get('link')).toMatch(
      /^<\/admin\/keys\?limit=1&plan=filtered&banned=true&cursor=[\w-]+>; rel="next", <\/admin\/keys\?limit=1&plan=filtered&banned=true>; rel="first"$/,
    );
    expect((await walk('?limit=1&plan=filtered&banned=true')).flat()).toEqual(banned);
    expect((await walk('?limit=2&plan=filtered&banned=false')).map(({ length }) => length)).toEqual([2, 1]);
    expect((await walk('?limit=3&plan=filtered')).map(({ length }) => length)).toEqual([3, 2]);
  });

  describe('search', () => {
    const found = async (search: string) => {
      const answer = await ask(`GET /admin/keys?limit=100&search=${encodeURIComponent(search)}`);
      expect(answer.status).toBe(200);
      return idsOf(answer);
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

    it('takes up to 64 characters, and keeps them in links that the document allows', async () => {
      const name = '🐈'.repeat(64);
      const keys = [await issue({ name }), await issue({ name })];
      const pages = await walk(
        `?limit=1&plan=free&banned=false&state=active&search=${encodeURIComponent(name)}`,
      );
      expect(pages).toEqual(keys.map(({ id }) => [id]));
      const answer = await ask(
        `GET /admin/keys?limit=1&plan=free&banned=false&state=active&search=${encodeURIComponent(name)}`,
      );
      expect(answer.headers.get('link')?.length).toBeLessThanOrEqual(2048);
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
      idsOf(await ask(`GET /admin/keys?search=by%20state&state=${state}`));
    expect(await inState('active')).toEqual([active.id, expiring.id, ...successors]);
    expect(await inState('rotating')).toEqual([rotating.id]);
    expect(await inState('expired')).toEqual([expired.id]);
    expect(await inState('revoked')).toEqual([revoked.id]);
    admin.store.clock.stopAt(inFuture(HOUR_MS));
    expect(await inState('rotating')).toEqual([]);
    expect(await inState('expired')).toEqual([rotating.id, expired.id, expiring.id]);
  });

  it('tells no next page when this one is exactly full', async () => {
    await makePlan('full');
    await issueMany(3, { plan: 'full' });
    expect(Object.keys(linksOf(await ask('GET /admin/keys?plan=full&limit=3')))).toEqual(['first']);
  });

  it('ignores parameters it does not know, repeated ones too', async () => {
    expect((await ask('GET /admin/keys?plan=free&limit=1&color=a&color=b&__proto__=1')).status).toBe(200);
  });

  describe('refuses with 400 invalid_request, naming the parameter,', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';
    const BANNED = 'banned must be true or false';
    const STATE = 'state must be one of active, rotating, expired, revoked';
    const SEARCH = 'search must have 1 to 64 characters';
    const CONTROLS = 'search must be text without control characters';
    const of = (position: string) => `cursor=${encodeCursor(position)}`;

    it.each([
      ...['0', '101', '-1', '', '1.0', '1e1', '%2B5', '05', 'ten'].map((limit) => [`limit=${limit}`, LIMIT]),
      ...['', 'x', 'MQ', '%00', 'x'.repeat(2000)].map((cursor) => [`cursor=${cursor}`, CURSOR]),
      // Those of other lists: an animal's or an audit entry's number, a plan's name.
      [of('7'), CURSOR],
      [of('free'), CURSOR],
      [of(''), CURSOR],
      [of(`${NOBODY}\0`), CURSOR],
      [of("x' OR '1'='1"), CURSOR],
      ...['', 'yes', '1', 'TRUE', 'True', 'null', '%00'].map((banned) => [`banned=${banned}`, BANNED]),
      ['banned', BANNED],
      ...['', '%00', 'free%00', 'Free', "'%20OR%201=1", '%F0%9F%90%95', 'x'.repeat(64)].map((plan) => [
        `plan=${plan}`,
        'plan must be the name of a plan',
      ]),
      ...['', 'Active', 'banned', 'active%00', 'active,revoked'].map((state) => [`state=${state}`, STATE]),
      ...['', 'x'.repeat(65)].map((search) => [`search=${search}`, SEARCH]),
      ...['%00', 'a%1Bb', '%C2%9B', '%E2%80%AE'].map((search) => [`search=${search}`, CONTROLS]),
      ['search', SEARCH],
      ['banned=true&banned=true', 'banned must be given once'],
      ['search=a&search=a', 'search must be given once'],
      ['state=active&state=active', 'state must be given once'],
      ['plan=free&plan=pro', 'plan must be given once'],
      ['limit=5&limit=5', 'limit must be given once'],
      ['cursor=x&cursor=x', 'cursor must be given once'],
      ['limit=0&plan=a&plan=b&banned=x&cursor=x', `${LIMIT}; plan must be given once; ${BANNED}; ${CURSOR}`],
    ])('%s', async (query, faults) => {
      const answer = await ask(`GET /admin/keys?${query}`);
      expectError(answer, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expectRateLimitHeaders(answer);
      expect(answer.headers.get('link')).toBeNull();
    });
  });
});

describe('rotateKey', () => {
  it('answers 201 with a successor of the same name, role and quota, which is shown this once', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue({ name: 'warehouse', role: 'admin', plan: 'pro', perMinute: 9, perDay: 90 });
    const answer = await rotate(old);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      ...shown(old),
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      lastFour: answer.json.key.slice(-4),
      createdAt: expect.any(String),
      predecessorId: old.id,
      successorId: null,
    });
    expect(answer.json.id).not.toBe(old.id);
    expect(answer.json.key).not.toBe(old.key);
    expect(answer.headers.get('location')).toBe(`/admin/keys/${answer.json.id}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expectRateLimitHeaders(answer);
    expect(await find(old)).toEqual({
      ...shown(old),
      state: 'rotating',
      expiresAt: new Date(now.getTime() + DAY_MS).toISOString(),
      successorId: answer.json.id,
    });
    expect(await find(answer.json)).toEqual(shown(answer.json));
  });

  it('has both keys take from the same windows', async () => {
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
    ['24 hours unless told otherwise', undefined, DAY_MS],
    ['24 hours with an empty body', {}, DAY_MS],
    ['as many seconds as are told', { overlapSeconds: 90 }, 90_000],
    ['a year at the most', { overlapSeconds: 31_536_000 }, 365 * DAY_MS],
  ])('lets both keys work for %s, to the millisecond', async (_what, body, overlapMs) => {
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

  it('names the state of the old key rotating until the overlap ends', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue();
    await rotate(old, { overlapSeconds: 90 });
    expect((await find(old)).state).toBe('rotating');
    admin.store.clock.stopAt(new Date(now.getTime() + 90_000));
    expect((await find(old)).state).toBe('expired');
  });

  it('ends the old key at once when the overlap is 0', async () => {
    const old = await issue();
    const { status, json } = await rotate(old, { overlapSeconds: 0 });
    expect(status).toBe(201);
    expectError(await use(old.key), 401, 'invalid_api_key', 'The API key has expired.');
    expect((await use(json.key)).status).toBe(200);
    expect((await find(old)).state).toBe('expired');
  });

  it('never lets the old key work past its own expiry, which the successor inherits', async () => {
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
  ])('gives the successor an expiry of its own where one is told, %s', async (_what, milliseconds) => {
    const old = await issue({ expiresAt: inFuture(HOUR_MS).toISOString() });
    const expiresAt = inFuture(milliseconds).toISOString();
    const { status, json } = await rotate(old, { expiresAt });
    expect([status, json.expiresAt]).toEqual([201, expiresAt]);
    expect((await find(old)).expiresAt).toBe(old.expiresAt);
  });

  it('can be done again with the successor, on the same quota', async () => {
    const first = await issue();
    const second = (await rotate(first)).json;
    const third = (await rotate(second)).json;
    expect([second.quotaId, third.quotaId]).toEqual([first.quotaId, first.quotaId]);
    expect(await find(second)).toMatchObject({ predecessorId: first.id, successorId: third.id });
    expect(await find(third)).toMatchObject({ predecessorId: second.id, successorId: null });
  });

  it('of several at once has exactly one win; the others are told 409', async () => {
    const old = await issue();
    const answers = await Promise.all(Array.from({ length: 6 }, () => rotate(old)));
    const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(winner?.status).toBe(201);
    for (const other of others) {
      expectError(
        other,
        409,
        'conflict',
        `The key was rotated already. Rotate its successor ${winner?.json.id}.`,
      );
    }
    const keys = await admin.store.database.query('SELECT id FROM api_keys WHERE quota_id = $1', [
      old.quotaId,
    ]);
    expect(keys).toHaveLength(2);
    const deeds = await admin.store.database.query(
      "SELECT id FROM audit_entries WHERE subject = $1 AND action = 'key.rotated'",
      [`key:${old.id}`],
    );
    expect(deeds).toHaveLength(1);
  });

  describe('is 409 conflict, and changes nothing, for a key that', () => {
    async function expectConflict(key: { id: string }, message: string): Promise<void> {
      const before = await everything();
      const answer = await rotate(key);
      expectError(answer, 409, 'conflict', message);
      expectRateLimitHeaders(answer);
      expect(await everything()).toBe(before);
    }

    it('is revoked', async () => {
      const key = await issue();
      await revoke(key);
      await expectConflict(key, 'The key is revoked, so it cannot be rotated. Issue a new one.');
    });

    it('is expired', async () => {
      const expiresAt = inFuture(HOUR_MS);
      const key = await issue({ expiresAt: expiresAt.toISOString() });
      admin.store.clock.stopAt(expiresAt);
      await expectConflict(key, 'The key is expired, so it cannot be rotated. Issue a new one.');
    });

    it('was rotated already', async () => {
      const key = await issue();
      const { id } = (await rotate(key)).json;
      await expectConflict(key, `The key was rotated already. Rotate its successor ${id}.`);
    });
  });

  it.each([
    ...['-1', '31536001', '1.5', '5.0', '1e3', '"90"', '"24h"', 'null', 'true', '2147483648'].map((value) => [
      `{"overlapSeconds":${value}}`,
      `overlapSeconds ${OVERLAP}`,
    ]),
    ['{"expiresAt":"2020-01-01T00:00:00Z"}', 'expiresAt must be in the future'],
    ['{"expiresAt":"2999-01-01T00:00:00"}', `expiresAt ${INSTANT}`],
    ['{"expiresAt":null}', `expiresAt ${INSTANT}`],
    ['{"overlapSeconds":-1,"expiresAt":"soon"}', `overlapSeconds ${OVERLAP}; expiresAt ${INSTANT}`],
    ...['[]', 'null', '"x"'].map((body) => [body, 'the body must be a JSON object']),
  ])('refuses with 400 what it cannot read, and changes nothing: %s', async (body, faults) => {
    const key = await issue();
    const before = await everything();
    const answer = await rotate(key, body);
    expectError(answer, 400, 'invalid_request', `The request is invalid: ${faults}.`);
    expect(await everything()).toBe(before);
  });
});

describe('revokeKey', () => {
  it('answers 200 with the key, which is refused from then on', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const key = await issue();
    const answer = await revoke(key);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...shown(key), state: 'revoked', revokedAt: now.toISOString() });
    expect(answer.headers.get('cache-control')).toBeNull();
    expectRateLimitHeaders(answer);
    expectError(await use(key.key), 401, 'invalid_api_key', 'The API key was revoked.');
  });

  it('is no fault again, and leaves the instant of the first time', async () => {
    const key = await issue();
    const first = await revoke(key);
    admin.store.clock.travel(1000);
    const again = await revoke(key);
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  it('leaves the successor and the predecessor of the key as they are', async () => {
    const [old, other] = [await issue(), await issue()];
    const successor = (await rotate(old)).json;
    await revoke(old);
    expect((await use(successor.key)).status).toBe(200);
    const otherSuccessor = (await rotate(other)).json;
    await revoke(otherSuccessor);
    expect((await use(other.key)).status).toBe(200);
  });

  it('takes no body, and is 400 for one that is no JSON', async () => {
    const key = await issue();
    expectError(await ask(`POST /admin/keys/${key.id}/revoke`, '{'), 400, 'invalid_request');
    expect((await find(key)).state).toBe('active');
  });

  it('lets an administrator take back the very key that asks', async () => {
    const self = await issue({ role: 'admin' });
    const url = `${admin.store.url}/admin/keys/${self.id}/revoke`;
    expect((await send(url, { method: 'POST', key: self.key })).json.state).toBe('revoked');
    expect((await withinASecond(self.key, ({ status }) => status === 401)).status).toBe(401);
  });
});

describe('changePlan', () => {
  const change = ({ id }: { id: string }, body: unknown) => ask(`PATCH /admin/keys/${id}`, body);
  const usedBy = ({ quotaId }: Key) =>
    admin.store.database.query<{ minute_used: number; day_used: number }>(
      'SELECT minute_used, day_used FROM rate_limit_counters WHERE subject = $1',
      [`quota:${quotaId}`],
    );

  it('answers 200 with the key on its new plan, and keeps what was counted', async () => {
    const key = await issue();
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 3; sent += 1) {
      await use(key.key);
    }
    const answer = await change(key, { plan: 'pro' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...shown(key), plan: 'pro', perMinute: 300, perDay: 10_000 });
    expect(answer.headers.get('cache-control')).toBeNull();
    expectRateLimitHeaders(answer);
    expect(await usedBy(key)).toEqual([{ minute_used: 3, day_used: 3 }]);

    const told = await withinASecond(key.key, ({ headers }) => headers.get('x-ratelimit-limit') === '300');
    const [counted] = await usedBy(key);
    expect(told.headers.get('x-ratelimit-limit')).toBe('300');
    expect(remaining(told)).toBe(300 - (counted?.minute_used ?? NaN));
  });

  it('leaves nothing where more was used than the new plan gives', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 5; sent += 1) {
      await use(key.key);
    }
    await change(key, { plan: 'enterprise', perMinute: 2, perDay: 2_000_000 });
    const told = await withinASecond(key.key, ({ status }) => status === 429);
    expectError(told, 429, 'rate_limit_exceeded');
    expect([told.headers.get('x-ratelimit-limit'), remaining(told)]).toEqual(['2', 0]);
  });

  it("gives own numbers, and takes them back where none are told: the plan's hold again", async () => {
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

  it('is one for a key and its successor: the quota is theirs', async () => {
    const old = await issue();
    const successor = (await rotate(old)).json;
    await change(old, { plan: 'business' });
    expect([(await find(old)).plan, (await find(successor)).plan]).toEqual(['business', 'business']);
  });

  it('ignores unknown fields: name, role and expiry stay', async () => {
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
      'Plan "enterprise" has no numbers of its own; give those per minute and per day.',
    ],
  ])('refuses with 400 what it cannot do, and changes nothing: %s', async (body, message) => {
    const key = await issue();
    const before = await everything();
    expectError(await change(key, body), 400, 'invalid_request', message);
    expect(await everything()).toBe(before);
  });
});

it('an id is the same in upper case', async () => {
  const key = await issue();
  expect((await find({ id: key.id.toUpperCase() })).id).toBe(key.id);
  expect((await revoke({ id: key.id.toUpperCase() })).json).toMatchObject({ id: key.id, state: 'revoked' });
});

it.each(['rotate', 'revoke', 'unban'])(
  '%s needs no body, also of a client that names its type',
  async (deed) => {
    const { id } = await issue();
    const { status } = await send(`${admin.store.url}/admin/keys/${id}/${deed}`, {
      method: 'POST',
      key: admin.administrator.key,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(status).toBe(deed === 'rotate' ? 201 : 200);
  },
);

it('a name cannot turn the order of what is read', async () => {
  const answer = await ask('POST /admin/keys', { name: 'safe\u202Egnp.exe', plan: 'free' });
  expectError(
    answer,
    400,
    'invalid_request',
    'The request is invalid: name must be text without control characters.',
  );
});

describe('a ban', () => {
  const until = () => inFuture(HOUR_MS);
  const has = async (query: string, { id }: { id: string }) =>
    (await ask(`GET /admin/keys?limit=100&${query}`)).json.some((key: Key) => key.id === id);

  beforeAll(() => makePlan('bans'));

  it("is shown by every key of the quota until its end, and by no other's", async () => {
    const [key, other] = [await issue({ plan: 'bans' }), await issue({ plan: 'bans' })];
    const successor = (await rotate(key)).json;
    const end = until();
    await ban(admin.store.database, key, end);
    for (const banned of [key, successor]) {
      expect((await find(banned)).bannedUntil).toBe(end.toISOString());
      expect([
        await has('plan=bans&banned=true', banned),
        await has('plan=bans&banned=false', banned),
      ]).toEqual([true, false]);
    }
    expect((await find(other)).bannedUntil).toBeNull();
    expect([await has('plan=bans&banned=true', other), await has('plan=bans&banned=false', other)]).toEqual([
      false,
      true,
    ]);
    expect(await has('plan=bans', key)).toBe(true);
  });

  it('is over when its time is: it is neither shown nor lifted', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    admin.store.clock.travel(HOUR_MS);
    expect((await find(key)).bannedUntil).toBeNull();
    expect(await has('plan=bans&banned=true', key)).toBe(false);
    const before = await everything();
    expect((await unban(key)).json).toEqual(shown(key));
    expect(await everything()).toBe(before);
  });

  it('is lifted at once, for every key of the quota', async () => {
    const key = await issue({ plan: 'bans' });
    const successor = (await rotate(key)).json;
    await ban(admin.store.database, key, until());
    const answer = await unban(successor);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(shown(successor));
    expectRateLimitHeaders(answer);
    expect((await find(key)).bannedUntil).toBeNull();
    expect((await bannedUntil(admin.store.database, key))?.getTime()).toBeLessThanOrEqual(
      admin.store.clock.now(),
    );
  });

  it('is no fault to lift where there is none', async () => {
    const key = await issue();
    const answer = await unban(key);
    expect([answer.status, answer.json]).toEqual([200, shown(key)]);
  });

  it('of several that lift it at once is lifted by one', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    const answers = await Promise.all(Array.from({ length: 5 }, () => unban(key)));
    for (const { status, json } of answers) {
      expect([status, json.bannedUntil]).toEqual([200, null]);
    }
    const deeds = await admin.store.database.query(
      "SELECT id FROM audit_entries WHERE subject = $1 AND action = 'key.unbanned'",
      [`key:${key.id}`],
    );
    expect(deeds).toHaveLength(1);
  });
});

describe('a deed holds within a second, though the key was in use until then:', () => {
  const wide = { plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 };

  it('its revocation', async () => {
    const key = await issue(wide);
    expect((await use(key.key)).status).toBe(200);
    await revoke(key);
    expectError(await withinASecond(key.key, ({ status }) => status === 401), 401, 'invalid_api_key');
  });

  it('its rotation without an overlap', async () => {
    const key = await issue(wide);
    expect((await use(key.key)).status).toBe(200);
    const { json } = await rotate(key, { overlapSeconds: 0 });
    expect((await use(json.key)).status).toBe(200);
    expectError(await withinASecond(key.key, ({ status }) => status === 401), 401, 'invalid_api_key');
  });
});

describe('a deed of which the bans cannot be told afterwards', () => {
  it('is answered, as they were asked before: a 503 would mean that it was not done', async () => {
    const [revoked, moved, freed] = [await issue(), await issue(), await issue()];
    await ban(admin.store.database, freed, inFuture(HOUR_MS));
    const counters = admin.store.app.get(CounterStore);
    const away = new CounterStoreError('noConnection', new Error('away'));
    for (const deed of [
      () => revoke(revoked),
      () => ask(`PATCH /admin/keys/${moved.id}`, { plan: 'pro' }),
      () => unban(freed),
    ]) {
      const known = await counters.bans();
      const bans = jest.spyOn(counters, 'bans').mockRejectedValue(away).mockResolvedValueOnce(known);
      try {
        expect((await deed()).status).toBe(200);
      } finally {
        bans.mockRestore();
      }
    }
    expect((await find(revoked)).state).toBe('revoked');
    expect((await find(moved)).plan).toBe('pro');
    expect((await find(freed)).bannedUntil).toBeNull();
  });
});

describe('a key that was made', () => {
  it('is answered though the bans cannot be told meanwhile: it is shown this once', async () => {
    const keys = admin.store.app.get(KeyService);
    await admin.store.database.query('ALTER TABLE rate_limit_counters RENAME TO counters_away');
    try {
      const { id, key } = await keys.issue({ name: 'x', plan: 'free' }, 'terminal');
      expect(key).toMatch(/^ask_test_/);
      // A banned quota must not be said to be free, so a rotation that could not tell does nothing.
      await expect(keys.rotate(id, {}, 'terminal')).rejects.toThrow('rate_limit_counters');
      expect(
        await admin.store.database.query('SELECT id FROM api_keys WHERE predecessor_id = $1', [id]),
      ).toEqual([]);
    } finally {
      await admin.store.database.query('ALTER TABLE counters_away RENAME TO rate_limit_counters');
    }
  });

  it('stands in no other answer and in no table, nor does its hash but where it is kept', async () => {
    const first = await issue();
    const second: IssuedKey = (await rotate(first)).json;
    const keys = [first.key, second.key];
    const answers = [
      await ask('GET /admin/keys?limit=100'),
      await ask(`GET /admin/keys/${first.id}`),
      await ask(`PATCH /admin/keys/${first.id}`, { plan: 'pro' }),
      await rotate(first),
      await unban(second),
      await revoke(second),
      await ask('GET /admin/audit?limit=100'),
    ];
    expectNoSecrets(answers.map(({ text }) => text).join('\n'), keys);
    const tables = await admin.store.database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'api_keys'",
    );
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['audit_entries', 'quotas']));
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
