import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { BUILT_IN_PLAN_NAMES, BUILT_IN_PLANS } from '../../src/auth/rules/built-in-plans.js';
import type { Plan } from '../../src/keys/plan.schemas.js';
import { useAdministration } from '../support/keys/administration.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { DAY_MS } from '../support/time/clock.js';
import { whileBroken } from '../support/database/broken-table.js';
import { changingNothing } from '../support/database/stored-state.js';

const NAME = 'must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter';

const FREE = {
  name: 'free',
  perMinute: 60,
  perDay: 1000,
  maxKeyLifetimeDays: null,
  validKeyCount: expect.any(Number),
  warnings: [],
};
const WARNING = { code: 'minute_limit_above_day_limit' };

const admin = useAdministration();
const { send: sendAsAdmin } = admin;

beforeEach(async () => {
  const used = 'SELECT FROM quotas WHERE plan = plans.name';
  await admin.store.database.query(`DELETE FROM plans WHERE name <> ALL ($1) AND NOT EXISTS (${used})`, [
    BUILT_IN_PLAN_NAMES,
  ]);
});

const put = (name: string, body: unknown) => sendAsAdmin(`PUT /admin/plans/${name}`, body);
const listEntries = (name: string) =>
  admin.store.database.query(
    'SELECT actor, action, before, after FROM audit_events WHERE subject = $1 ORDER BY id',
    [`plan:${name}`],
  );

/** Sends `PUT`, and expects it to change nothing. */
const putInVain = (name: string, body: unknown) =>
  changingNothing(admin.store.database, () => put(name, body));

describe('GET /admin/plans', () => {
  it('returns 200 with a bare array of the plans by name; enterprise has no limits', async () => {
    const response = await sendAsAdmin('GET /admin/plans');
    expect(response.status).toBe(200);
    expect(response.json).toEqual(
      BUILT_IN_PLAN_NAMES.toSorted().map((name) => ({
        name,
        ...BUILT_IN_PLANS[name],
        maxKeyLifetimeDays: null,
        validKeyCount: name === admin.administrator.plan ? 1 : 0,
        warnings: [],
      })),
    );
    expect(parseLinks(response)).toEqual({ first: '/admin/plans?limit=20' });
  });

  it('returns each existing plan exactly once over all pages, while others are created', async () => {
    const get = (target: string) => sendAsAdmin(`GET ${target}`);
    let added = 0;
    const pages = await readPages<Plan>(get, '/admin/plans?limit=1', () =>
      put(`a-${(added += 1)}`, { perMinute: 1, perDay: 1 }),
    );
    expect(pages.map((plans) => plans.map(({ name }) => name))).toEqual(
      BUILT_IN_PLAN_NAMES.toSorted().map((name) => [name]),
    );
  });
});

describe('validKeyCount of a plan', () => {
  const setPlan = () => put('counted', { perMinute: 60, perDay: 1000 });
  const issue = (quotaId?: string) =>
    admin.issue(quotaId === undefined ? { plan: 'counted' } : { plan: undefined, quotaId });
  const countOf = async (target: string) =>
    (await sendAsAdmin(`GET /admin/${target}`)).json.validKeyCount as number;

  it('is the sum of those of its quotas: no revoked, expired or suspended key counts', async () => {
    await setPlan();
    const [shared, own] = [await issue(), await issue()];
    const [revoked, expired, suspended, rotated] = [
      await issue(shared.quotaId),
      await issue(shared.quotaId),
      await issue(shared.quotaId),
      await issue(shared.quotaId),
    ];
    await sendAsAdmin(`POST /admin/keys/${revoked.id}/revoke`);
    await admin.store.database.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    await sendAsAdmin(`PATCH /admin/keys/${suspended.id}`, { suspended: true });
    await sendAsAdmin(`POST /admin/keys/${rotated.id}/rotate`, {});
    const ofQuotas = await Promise.all([shared, own].map(({ quotaId }) => countOf(`quotas/${quotaId}`)));
    expect(ofQuotas).toEqual([3, 1]);
    expect(await countOf('plans/counted')).toBe(4);
    expect((await setPlan()).json).toMatchObject({ validKeyCount: 4 });
    expect((await sendAsAdmin('GET /admin/plans')).json).toContainEqual(
      expect.objectContaining({ name: 'counted', validKeyCount: 4 }),
    );
    await sendAsAdmin(`PATCH /admin/keys/${suspended.id}`, { suspended: false });
    expect(await countOf('plans/counted')).toBe(5);
  });

  it('is counted before the plan is stored, so that a change that gets 500 changed nothing', async () => {
    await sendAsAdmin('GET /admin/plans');
    const setNew = () => put('uncounted', { perMinute: 60, perDay: 1000 });
    const failed = await whileBroken(admin.store.database, 'api_keys', setNew);
    expectError(failed, 500, 'internal_error');
    expect((await sendAsAdmin('GET /admin/plans/uncounted')).status).toBe(404);
    expect(await listEntries('uncounted')).toEqual([]);
  });
});

describe('GET /admin/plans/{plan}', () => {
  it('returns 200 with the plan', async () => {
    const { status, json } = await sendAsAdmin('GET /admin/plans/free');
    expect([status, json]).toEqual([200, FREE]);
  });

  it.each(['gold', 'Free', '%00', "'%20OR%201=1", '__proto__'])(
    'returns 404 for an unknown name: %s',
    async (name) => {
      const message = `There is no plan "${decodeURIComponent(name)}".`;
      expectError(await sendAsAdmin(`GET /admin/plans/${name}`), 404, 'not_found', message);
    },
  );
});

describe('PUT /admin/plans/{plan}', () => {
  afterEach(() =>
    admin.store.database.query("UPDATE plans SET per_minute = 60, per_day = 1000 WHERE name = 'free'"),
  );

  it('returns 200 with the changed plan, without Location, and ignores a name and other fields', async () => {
    const limits = { perMinute: 61, perDay: 1001 };
    const { status, json, headers } = await put('free', { ...limits, name: 'pro', colour: 'red', '': null });
    expect([status, json, headers.get('location')]).toEqual([
      200,
      { name: 'free', ...limits, maxKeyLifetimeDays: null, validKeyCount: expect.any(Number), warnings: [] },
      null,
    ]);
    expect((await sendAsAdmin('GET /admin/plans/free')).json).toEqual(json);
  });

  it('returns 201 with Location for a new plan, on which keys can be issued at once', async () => {
    const limits = { perMinute: 2_147_483_647, perDay: 1 };
    const { status, json, headers } = await put('startup-2', limits);
    const location = '/admin/plans/startup-2';
    expect([status, json, headers.get('location')]).toEqual([
      201,
      {
        name: 'startup-2',
        ...limits,
        maxKeyLifetimeDays: null,
        validKeyCount: 0,
        warnings: [expect.objectContaining(WARNING)],
      },
      location,
    ]);
    expect((await sendAsAdmin(`GET ${location}`)).json).toEqual(json);
    const issued = await admin.issue({ plan: 'startup-2' });
    expect(issued).toMatchObject({ plan: 'startup-2', ...limits });
    await admin.store.database.query('DELETE FROM api_keys WHERE id = $1', [issued.id]);
    await admin.store.database.query('DELETE FROM quotas WHERE id = $1', [issued.quotaId]);
  });

  it('changes and records nothing when the limits are the same', async () => {
    const response = await putInVain('free', { perMinute: 60, perDay: 1000 });
    expect([response.status, response.json]).toEqual([200, FREE]);
  });

  it('applies within a second to keys on the plan, keeps their usage, and not to own limits', async () => {
    const key = await admin.issue();
    const own = await admin.issue({ perMinute: 7, perDay: 70 });
    admin.store.clock.travelToMinuteStart();
    const use = () => send(`${admin.store.url}/v1/pets`, { key: key.key });
    await use();
    let used = 1;
    await put('free', { perMinute: 1_000_000, perDay: 2_000_000 });
    await eventually(async () => {
      const { status, headers } = await use();
      used += status === 200 ? 1 : 0;
      expect(headers.get('ratelimit-policy')).toBe('"minute";q=1000000;w=60, "day";q=2000000;w=86400');
      expect(headers.get('x-ratelimit-remaining')).toBe(String(1_000_000 - used));
    }, 1000);
    expect((await sendAsAdmin(`GET /admin/keys/${own.id}`)).json).toMatchObject({ perMinute: 7, perDay: 70 });
  });

  it('keeps a limit that the body leaves out', async () => {
    expect((await put('free', { perDay: 1001 })).json).toMatchObject({ perMinute: 60, perDay: 1001 });
    expect((await put('free', { perMinute: 61 })).json).toMatchObject({ perMinute: 61, perDay: 1001 });
    expect((await put('free', {})).json).toMatchObject({ perMinute: 61, perDay: 1001 });
  });

  it.each([
    [{ perDay: 5 }, 'perMinute is required for a new plan'],
    [{ perMinute: 5 }, 'perDay is required for a new plan'],
    [{}, 'perMinute is required for a new plan'],
  ])('returns 400 for a new plan that lacks a limit: %j', async (body, fault) => {
    expectInvalid(await putInVain('lacking', body), fault);
  });

  it('returns 409 conflict for a plan whose quotas have their own limits', async () => {
    const message = 'Plan "enterprise" has no limits: each of its quotas has its own limits.';
    expectError(await putInVain('enterprise', { perMinute: 5, perDay: 5 }), 409, 'conflict', message);
  });
  it.each([
    'Gold',
    '1st',
    '-gold',
    'gold_',
    'gold%20',
    'g%C3%B6ld',
    'gold%00',
    'gold%0A',
    'x'.repeat(64),
    '..%2Ffree',
  ])('returns 400 for a name that no plan can have: %s', async (name) => {
    const response = await putInVain(name, { perMinute: 5, perDay: 5 });
    expectError(response, 400, 'invalid_request', `The name of the plan ${NAME}.`);
  });

  it.each(['a', 'x'.repeat(63), 'constructor', 'a-1-', 'null'])(
    'creates a plan with the name %s',
    async (name) => {
      expect((await put(name, { perMinute: 5, perDay: 5 })).status).toBe(201);
      expect((await sendAsAdmin(`GET /admin/plans/${name}`)).json).toEqual({
        name,
        perMinute: 5,
        perDay: 5,
        maxKeyLifetimeDays: null,
        validKeyCount: 0,
        warnings: [],
      });
    },
  );

  it('creates a plan once when several requests are concurrent; the others change it in turn', async () => {
    const limits = [1, 2, 3, 4, 5];
    const responses = await Promise.all(
      limits.map((perMinute) => put('contested', { perMinute, perDay: 10 })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    const entries = await listEntries('contested');
    expect(entries.map(({ action }) => action)).toEqual(['plan.created', ...Array(4).fill('plan.updated')]);
    expect(entries.map(({ before }) => before)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ after }) => after),
    ]);
    expect((await sendAsAdmin('GET /admin/plans/contested')).json).toEqual({
      name: 'contested',
      ...entries.at(-1)?.['after'],
      maxKeyLifetimeDays: null,
      validKeyCount: 0,
      warnings: [],
    });
  });
});

describe('the longest life of a key', () => {
  const DAYS = 90;
  const LIMITS = { perMinute: 60, perDay: 1000 };
  const plan = 'ninety';

  const issue = (input = {}) => sendAsAdmin('POST /admin/keys', { name: 'test', plan, ...input });
  const rotate = ({ id }: IssuedKey, input = {}) => sendAsAdmin(`POST /admin/keys/${id}/rotate`, input);
  const after = (days: number) => new Date(admin.store.clock.now() + days * DAY_MS).toISOString();
  /** The days from the present to an expiry. */
  const lifeOf = ({ expiresAt }: IssuedKey) =>
    (Date.parse(String(expiresAt)) - admin.store.clock.now()) / DAY_MS;

  beforeEach(async () => {
    admin.store.clock.travelToMinuteStart();
    await put(plan, { ...LIMITS, maxKeyLifetimeDays: DAYS });
  });

  it('is set, kept and removed, each time with an event of the audit', async () => {
    const name = 'short-lived';
    const bodies = [{ ...LIMITS, maxKeyLifetimeDays: 1 }, { perDay: 2000 }, { maxKeyLifetimeDays: null }];
    const shown = [];
    for (const body of bodies) {
      shown.push((await put(name, body)).json.maxKeyLifetimeDays);
    }
    expect(shown).toEqual([1, 1, null]);
    const fields = { perMinute: 60, perDay: 2000 };
    expect((await listEntries(name)).at(-1)).toMatchObject({
      before: { ...fields, maxKeyLifetimeDays: 1 },
      after: { ...fields, maxKeyLifetimeDays: null },
    });
  });

  it('is set on a plan without limits, too', async () => {
    const { status, json } = await put('enterprise', { maxKeyLifetimeDays: 365 });
    expect([status, json]).toEqual([
      200,
      {
        name: 'enterprise',
        perMinute: null,
        perDay: null,
        maxKeyLifetimeDays: 365,
        validKeyCount: expect.any(Number),
        warnings: [],
      },
    ]);
    expect((await put('enterprise', { maxKeyLifetimeDays: null })).status).toBe(200);
  });

  it.each([0, 3651, '90', 1.5])('returns 400 for %j days', async (maxKeyLifetimeDays) => {
    expectInvalid(
      await putInVain(plan, { maxKeyLifetimeDays }),
      'maxKeyLifetimeDays must be an integer from 1 to 3650, without quotes, fraction or exponent',
    );
  });

  it.each(['client', 'admin'])('is the expiry of a key of a %s without one', async (role) => {
    const { json } = await issue({ role });
    expect(lifeOf(json)).toBeCloseTo(DAYS, 2);
  });

  it('allows an earlier expiry, and returns 400 that names the bound for a later one', async () => {
    const expiresAt = after(DAYS - 1);
    expect((await issue({ expiresAt })).json.expiresAt).toBe(expiresAt);
    const message = /^expiresAt must not be after \S+Z, because a key on plan ninety lives at most 90 days$/;
    expectInvalid(await issue({ expiresAt: after(DAYS + 1) }), message);
    const { json: key } = await issue();
    expectInvalid(await issue({ plan: undefined, quotaId: key.quotaId, expiresAt: after(91) }), message);
    expectInvalid(await rotate(key, { expiresAt: after(DAYS + 1) }), message);
  });

  it('bounds the successor of a key without an expiry, which keeps its own until it is rotated', async () => {
    await put(plan, { maxKeyLifetimeDays: null });
    const { json: key } = await issue();
    await put(plan, { maxKeyLifetimeDays: DAYS });
    expect((await sendAsAdmin(`GET /admin/keys/${key.id}`)).json.expiresAt).toBeNull();
    expect(lifeOf((await rotate(key)).json)).toBeCloseTo(DAYS, 2);
    const { json: leaking } = await sendAsAdmin(`POST /admin/keys`, {
      name: 'test',
      plan,
      expiresAt: after(1),
    });
    // A successor inherits an earlier expiry.
    expect(lifeOf((await rotate(leaking)).json)).toBeCloseTo(1, 2);
  });

  it('bounds what a holder rotates, replaces as leaked, and issues', async () => {
    await put(plan, { maxKeyLifetimeDays: null });
    const { json: key } = await issue({ scopes: ['pets:read', 'keys:write'] });
    await put(plan, { maxKeyLifetimeDays: DAYS });
    const call = (path: string, body: object, by = key.key) =>
      send(admin.store.url + path, { method: 'POST', key: by, body });
    expect(lifeOf((await call('/v1/keys', { name: 'team' })).json)).toBeCloseTo(DAYS, 2);
    expectInvalid(
      await call('/v1/keys', { name: 'team', expiresAt: after(91) }),
      /^expiresAt must not be af/,
    );
    const successor = (await call('/v1/key/rotate', {})).json;
    expect(lifeOf(successor)).toBeCloseTo(DAYS, 2);
    admin.store.clock.travel(DAY_MS / 2);
    const replacement = (await call('/v1/key/rotate', { leaked: true }, successor.key)).json;
    expect(replacement.expiresAt).toBe(successor.expiresAt);
  });

  it('is not applied to living keys by a change of their plan', async () => {
    const { json: key } = await issue({ plan: 'free' });
    await sendAsAdmin(`PATCH /admin/quotas/${key.quotaId}`, { plan });
    expect((await sendAsAdmin(`GET /admin/keys/${key.id}`)).json.expiresAt).toBeNull();
  });

  it('bounds the keys that the last release issues beside this one, but no older key', async () => {
    const { json: key } = await issue();
    const insert = async (createdAt: string) => {
      const [row] = await admin.store.database.query<{ days: number | null }>(
        `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, created_at)
         VALUES (
           gen_random_uuid(), $1, 'x', sha256($2), 'ask_test_', '0000',
           statement_timestamp() - $3::interval
         )
         RETURNING (extract(epoch FROM expires_at - statement_timestamp()) / 86400)::float8 AS days`,
        [key.quotaId, Buffer.from(createdAt), createdAt],
      );
      return row?.days ?? null;
    };
    expect(await insert('1 second')).toBeCloseTo(DAYS, 2);
    expect(await insert('2 days')).toBeNull();
  });
});
