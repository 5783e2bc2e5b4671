import { BUILT_IN_PLAN_NAMES, BUILT_IN_PLANS } from '../../src/auth/rules/built-in-plans.js';
import type { Plan } from '../../src/keys/plan.schemas.js';
import { useAdministration } from '../support/keys/administration.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { changingNothing } from '../support/database/stored-state.js';

const NAME = 'must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter';

const WARNING = { code: 'minute_limit_above_day_limit' };

const admin = useAdministration();
const { send: sendAsAdmin } = admin;

beforeEach(async () => {
  await admin.store.database.query('DELETE FROM plans WHERE name <> ALL ($1)', [BUILT_IN_PLAN_NAMES]);
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
      BUILT_IN_PLAN_NAMES.toSorted().map((name) => ({ name, ...BUILT_IN_PLANS[name], warnings: [] })),
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

describe('GET /admin/plans/{plan}', () => {
  it('returns 200 with the plan', async () => {
    const { status, json } = await sendAsAdmin('GET /admin/plans/free');
    expect([status, json]).toEqual([200, { name: 'free', perMinute: 60, perDay: 1000, warnings: [] }]);
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
      { name: 'free', ...limits, warnings: [] },
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
      { name: 'startup-2', ...limits, warnings: [expect.objectContaining(WARNING)] },
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
    expect([response.status, response.json]).toEqual([
      200,
      { name: 'free', perMinute: 60, perDay: 1000, warnings: [] },
    ]);
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
      warnings: [],
    });
  });
});
