import type { Plan } from '../../src/admin/plans/plan.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { type Administration, startAdministration } from '../support/keys/administration.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { linksOf } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { changingNothing } from '../support/database/stored-state.js';

const INTEGER = 'must be an integer from 1 to 2147483647, written as digits';
const NAME = 'must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter';

let admin: Administration;
let sendAsAdmin: Administration['send'];

beforeAll(async () => {
  admin = await startAdministration();
  ({ send: sendAsAdmin } = admin);
});
beforeEach(async () => {
  await admin.store.database.query(
    `DELETE FROM plans WHERE name NOT IN ('free', 'pro', 'business', 'enterprise')`,
  );
});
afterAll(() => admin.store.close());

const put = (name: string, body: unknown) => sendAsAdmin(`PUT /admin/plans/${name}`, body);
const entriesOf = (name: string) =>
  admin.store.database.query(
    'SELECT actor, action, before, after FROM audit_events WHERE subject = $1 ORDER BY id',
    [`plan:${name}`],
  );

/** Sends `PUT`, and expects it to change nothing. */
const putInVain = (name: string, body: unknown) =>
  changingNothing(admin.store.database, () => put(name, body));

describe('GET /admin/plans', () => {
  it('returns 200 with a bare array of the plans by name; enterprise has no limits of its own', async () => {
    const response = await sendAsAdmin('GET /admin/plans');
    expect(response.status).toBe(200);
    expect(response.json).toEqual([
      { name: 'business', perMinute: 1000, perDay: 100_000 },
      { name: 'enterprise', perMinute: null, perDay: null },
      { name: 'free', perMinute: 60, perDay: 1000 },
      { name: 'pro', perMinute: 300, perDay: 10_000 },
    ]);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(linksOf(response)).toEqual({ first: '/admin/plans?limit=20' });
    expectRateLimitHeaders(response);
  });

  it('returns each existing plan exactly once over all pages, while others are created', async () => {
    const get = (target: string) => sendAsAdmin(`GET ${target}`);
    let added = 0;
    const pages = await readPages<Plan>(get, '/admin/plans?limit=1', () =>
      put(`a-${(added += 1)}`, { perMinute: 1, perDay: 1 }),
    );
    expect(pages.map((plans) => plans.map(({ name }) => name))).toEqual([
      ['business'],
      ['enterprise'],
      ['free'],
      ['pro'],
    ]);
  });

  describe('with an invalid parameter', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';

    it.each([
      // Also cursors of other lists: the number of an animal, the id of a key.
      ...['7', '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11', 'free\0'].map((position) => [
        `cursor=${encodeCursor(position)}`,
        CURSOR,
      ]),
      ...['0', '101', '-1', '', '1.0', 'ten'].map((limit) => [`limit=${limit}`, LIMIT]),
      ...['', 'x', 'MQ', '%00'].map((cursor) => [`cursor=${cursor}`, CURSOR]),
      ['limit=1&limit=1', 'limit must be given once'],
      ['cursor=x&cursor=x', 'cursor must be given once'],
      ['limit=0&cursor=x', `${LIMIT}; ${CURSOR}`],
    ])('returns 400 that names the parameter: %s', async (query, faults) => {
      const response = await sendAsAdmin(`GET /admin/plans?${query}`);
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
    });
  });
});

describe('GET /admin/plans/{plan}', () => {
  it('returns 200 with the plan', async () => {
    const response = await sendAsAdmin('GET /admin/plans/free');
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ name: 'free', perMinute: 60, perDay: 1000 });
    expectRateLimitHeaders(response);
  });

  it.each(['gold', 'Free', '%00', "'%20OR%201=1", '__proto__'])(
    'returns 404 for an unknown name: %s',
    async (name) => {
      const response = await sendAsAdmin(`GET /admin/plans/${name}`);
      expectError(response, 404, 'not_found', `There is no plan "${decodeURIComponent(name)}".`);
      expectRateLimitHeaders(response);
    },
  );
});

describe('PUT /admin/plans/{plan}', () => {
  afterEach(() =>
    admin.store.database.query("UPDATE plans SET per_minute = 60, per_day = 1000 WHERE name = 'free'"),
  );

  it('returns 200 with the changed plan', async () => {
    const response = await put('free', { perMinute: 61, perDay: 1001 });
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ name: 'free', perMinute: 61, perDay: 1001 });
    expect(response.headers.get('location')).toBeNull();
    expectRateLimitHeaders(response);
    expect((await sendAsAdmin('GET /admin/plans/free')).json).toEqual(response.json);
  });

  it('returns 201 with Location for a new plan, on which keys can be issued at once', async () => {
    const response = await put('startup-2', { perMinute: 2_147_483_647, perDay: 1 });
    expect(response.status).toBe(201);
    expect(response.json).toEqual({ name: 'startup-2', perMinute: 2_147_483_647, perDay: 1 });
    expect(response.headers.get('location')).toBe('/admin/plans/startup-2');
    expectRateLimitHeaders(response);
    expect((await sendAsAdmin(`GET ${response.headers.get('location')}`)).json).toEqual(response.json);
    const issued = await sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'startup-2' });
    expect(issued.json).toMatchObject({ plan: 'startup-2', perMinute: 2_147_483_647, perDay: 1 });
    await admin.store.database.query('DELETE FROM api_keys WHERE id = $1', [issued.json.id]);
    await admin.store.database.query('DELETE FROM quotas WHERE id = $1', [issued.json.quotaId]);
  });

  it('changes and records nothing when the limits are the same', async () => {
    const response = await putInVain('free', { perMinute: 60, perDay: 1000 });
    expect([response.status, response.json]).toEqual([200, { name: 'free', perMinute: 60, perDay: 1000 }]);
  });

  it('ignores unknown fields, also a name', async () => {
    const response = await put('free', { perMinute: 62, perDay: 1002, name: 'pro', colour: 'red', '': null });
    expect(response.json).toEqual({ name: 'free', perMinute: 62, perDay: 1002 });
  });

  it('applies within a second to the keys on the plan, keeps their usage, and leaves own limits alone', async () => {
    const key = await admin.issue();
    const own = await admin.issue({ perMinute: 7, perDay: 70 });
    admin.store.clock.travelToMinuteStart();
    const use = () => send(`${admin.store.url}/v1/pets`, { key: key.key });
    for (let sent = 0; sent < 3; sent += 1) {
      await use();
    }
    await put('free', { perMinute: 1_000_000, perDay: 2_000_000 });
    const deadline = performance.now() + 1000;
    let used = 3;
    let response: HttpResponse;
    do {
      response = await use();
      used += response.status === 200 ? 1 : 0;
    } while (response.headers.get('x-ratelimit-limit') !== '1000000' && performance.now() < deadline);
    expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=1000000;w=60, "day";q=2000000;w=86400');
    expect(response.headers.get('x-ratelimit-remaining')).toBe(String(1_000_000 - used));
    expect((await sendAsAdmin(`GET /admin/keys/${own.id}`)).json).toMatchObject({ perMinute: 7, perDay: 70 });
  });

  it('returns 409 conflict for a plan whose keys have their own limits', async () => {
    const message = 'Plan "enterprise" has no limits of its own; give each of its keys theirs.';
    expectError(await putInVain('enterprise', { perMinute: 5, perDay: 5 }), 409, 'conflict', message);
  });

  it.each([
    ['{}', 'perMinute is required; perDay is required'],
    ...['0', '5.0', '1e3', '2147483648', '"5"', 'null'].map((value) => [
      `{"perMinute":${value},"perDay":5}`,
      `perMinute ${INTEGER}`,
    ]),
    ['{"perMinute":null,"perDay":"x"}', `perMinute ${INTEGER}; perDay ${INTEGER}`],
    ['[]', 'the body must be a JSON object'],
  ])('returns 400 and changes nothing for invalid limits: %s', async (body, faults) => {
    for (const name of ['free', 'new']) {
      const response = await putInVain(name, body);
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
    }
  });

  const invalidNames = [
    'Gold',
    '1st',
    '-gold',
    'gold_',
    'gold%20',
    'g%C3%B6ld',
    '%00',
    'gold%00',
    '%0A',
    'gold%0A',
    'x'.repeat(64),
    '..%2Ffree',
    '__proto__',
  ];
  it.each(invalidNames)('returns 400 for a name that no plan can have: %s', async (name) => {
    const response = await putInVain(name, { perMinute: 5, perDay: 5 });
    expectError(response, 400, 'invalid_request', `The name of the plan ${NAME}.`);
  });

  it.each(['a', 'x'.repeat(63), 'constructor', 'a-1-', 'null'])(
    'creates a plan with the name %s',
    async (name) => {
      expect((await put(name, { perMinute: 5, perDay: 5 })).status).toBe(201);
      expect((await sendAsAdmin(`GET /admin/plans/${name}`)).json).toEqual({ name, perMinute: 5, perDay: 5 });
    },
  );

  it('creates a plan once when several requests are concurrent; the others change it in turn', async () => {
    const limits = [1, 2, 3, 4, 5];
    const responses = await Promise.all(
      limits.map((perMinute) => put('contested', { perMinute, perDay: 10 })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    const entries = await entriesOf('contested');
    expect(entries.map(({ action }) => action)).toEqual(['plan.created', ...Array(4).fill('plan.changed')]);
    expect(entries.map(({ before }) => before)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ after }) => after),
    ]);
    expect((await sendAsAdmin('GET /admin/plans/contested')).json).toEqual({
      name: 'contested',
      ...entries.at(-1)?.['after'],
    });
  });
});
