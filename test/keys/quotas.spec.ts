import type { IssuedKey, Key } from '../../src/keys/key.schemas.js';
import type { Quota } from '../../src/keys/quota.schemas.js';
import { counterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { changingNothing } from '../support/database/stored-state.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { remaining } from '../support/http/rate-limit-headers.js';
import { useAdministration } from '../support/keys/administration.js';
import { ban, bannedUntil } from '../support/keys/bans.js';
import { HOUR_MS, SECOND_MS } from '../support/time/clock.js';

const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

afterEach(() => admin.store.clock.goOn());

type OnQuota = Pick<Key, 'quotaId'>;
const use = (key: string) => send(`${admin.store.url}/v1/pets`, { key });
const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
const findKey = async ({ id }: { id: string }): Promise<Key> =>
  (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const find = async ({ quotaId }: OnQuota): Promise<Quota> =>
  (await sendAsAdmin(`GET /admin/quotas/${quotaId}`)).json;
const update = ({ quotaId }: OnQuota, body: unknown) => sendAsAdmin(`PATCH /admin/quotas/${quotaId}`, body);
const unban = ({ quotaId }: OnQuota) => sendAsAdmin(`POST /admin/quotas/${quotaId}/unban`);
const rateLimit = ({ quotaId }: OnQuota) => sendAsAdmin(`GET /admin/quotas/${quotaId}/rate-limit`);
const rotate = async ({ id }: { id: string }): Promise<IssuedKey> =>
  (await sendAsAdmin(`POST /admin/keys/${id}/rotate`)).json;
const revoke = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/revoke`);
const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);

/** The events of an action on a quota, newest first. */
async function listAuditEvents({ quotaId }: OnQuota, action: string) {
  const { json } = await sendAsAdmin(`GET /admin/audit?action=${action}&limit=100`);
  return (json as { subject: unknown }[]).filter(({ subject }) => JSON.stringify(subject).includes(quotaId));
}

describe('GET /admin/quotas/{quotaId}', () => {
  it('returns 200 with the plan, the limits and the ban of a quota, and its valid keys', async () => {
    const key = await issue({ plan: 'pro' });
    const { status, json } = await sendAsAdmin(`GET /admin/quotas/${key.quotaId.toUpperCase()}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: key.quotaId,
      externalId: null,
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      limitsSource: 'plan',
      bannedUntil: null,
      validKeyCount: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      warnings: [],
    });
    await rotate(key);
    const further = await issue({ plan: undefined, quotaId: key.quotaId });
    await revoke(further);
    const end = inFuture(HOUR_MS);
    await ban(admin.store.database, key, end);
    expect(await find(key)).toEqual({ ...json, validKeyCount: 2, bannedUntil: end.toISOString() });
  });

  it('returns a warning if the limit per day can never be reached by that per minute', async () => {
    const key = await issue({ perMinute: 100, perDay: 50 });
    const warning = {
      code: 'minute_limit_above_day_limit',
      message: 'The limit per minute is above that per day, so only the limit per day has an effect.',
    };
    expect([key.warnings, (await find(key)).warnings]).toEqual([[warning], [warning]]);
    expect((await update(key, { perDay: 100 })).json.warnings).toEqual([]);
  });

  it.each(['x', UNKNOWN_ID, `${UNKNOWN_ID}0`, '%00', "'%20OR%201=1"])(
    'returns 404 for an unknown id, as every operation on one quota does: %s',
    async (id) => {
      const path = `/admin/quotas/${id}`;
      const message = `There is no quota with the id "${decodeURIComponent(id)}".`;
      for (const request of [`GET ${path}`, `POST ${path}/unban`, `GET ${path}/rate-limit`]) {
        expectError(await sendAsAdmin(request), 404, 'not_found', message);
      }
      expectError(await sendAsAdmin(`PATCH ${path}`, { plan: 'pro' }), 404, 'not_found', message);
    },
  );
});

describe('POST /admin/keys and PATCH /admin/quotas/{quotaId}', () => {
  const noPlan: unknown = expect.stringMatching(
    /^There is no plan ".*"; the plans are business, enterprise, free, .*pro/s,
  );
  it.each<[Record<string, unknown>, unknown]>([
    ...['gold', 'Free', '', '\ud800', 'free\0', '__proto__', "free'; DROP TABLE plans; --"].map(
      (plan): [Record<string, unknown>, unknown] => [{ plan }, noPlan],
    ),
    [
      { plan: 'enterprise' },
      'Plan "enterprise" has no limits: give the quota its own limits per minute and per day.',
    ],
    [{ plan: 'free', perMinute: 5 }, expect.stringContaining('The request is invalid: perDay is required')],
    [{ plan: 'free', perDay: 5 }, expect.stringContaining('The request is invalid: perMinute is required')],
  ])(
    'return 400 for a plan that does not exist or lacks limits, and for one limit: %j',
    async (input, message) => {
      const key = await issue();
      for (const request of ['POST /admin/keys', `PATCH /admin/quotas/${key.quotaId}`]) {
        const response = await unchanged(() => sendAsAdmin(request, { name: 'x', ...input }));
        expectError(response, 400, 'invalid_request', message);
      }
    },
  );
});

describe('PATCH /admin/quotas/{quotaId}', () => {
  const usedBy = ({ quotaId }: OnQuota) =>
    admin.store.database.query<{ minute_used: number; day_used: number }>(
      'SELECT minute_used, day_used FROM rate_limit_counters WHERE bucket_key = $1',
      [`quota:${quotaId}`],
    );

  it('returns 200 with the quota on its new plan, and keeps the counts', async () => {
    const key = await issue();
    const old = await find(key);
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 3; sent += 1) {
      await use(key.key);
    }
    const { status, json } = await update(key, { plan: 'pro' });
    expect([status, json]).toEqual([200, { ...old, plan: 'pro', perMinute: 300, perDay: 10_000 }]);
    expect(await usedBy(key)).toEqual([{ minute_used: 3, day_used: 3 }]);

    await eventually(async () => {
      const left = remaining(await use(key.key));
      const [counted] = await usedBy(key);
      expect(left).toBe(300 - (counted?.minute_used ?? NaN));
    }, SECOND_MS);
  });

  it('leaves 0 remaining when the usage exceeds the new limits', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 5; sent += 1) {
      await use(key.key);
    }
    await update(key, { perMinute: 2, perDay: 2_000_000 });
    await eventually(async () => {
      const updated = await use(key.key);
      expectError(updated, 429, 'rate_limit_exceeded');
      expect([updated.headers.get('x-ratelimit-limit'), remaining(updated)]).toEqual(['2', 0]);
    }, SECOND_MS);
  });

  it('keeps what the body leaves out, own limits too, until null removes them', async () => {
    const key = await issue({ perMinute: 5, perDay: 50 });
    const own = { limitsSource: 'quota', perMinute: 5, perDay: 50 };
    expect((await update(key, { plan: 'pro' })).json).toMatchObject({ plan: 'pro', ...own });
    expect((await update(key, { perMinute: 7 })).json).toMatchObject({ plan: 'pro', ...own, perMinute: 7 });
    expect((await update(key, {})).json).toMatchObject({ plan: 'pro', ...own, perMinute: 7 });
    const ofPlan = { plan: 'pro', limitsSource: 'plan', perMinute: 300, perDay: 10_000 };
    expect((await update(key, { perMinute: null, perDay: null })).json).toMatchObject(ofPlan);
    const enterprise = { plan: 'enterprise', perMinute: 5000, perDay: 1_000_000 };
    expect((await update(key, enterprise)).json).toMatchObject({ ...enterprise, limitsSource: 'quota' });
    const back = { plan: 'free', perMinute: null, perDay: null };
    expect((await update(key, back)).json).toMatchObject({ plan: 'free', limitsSource: 'plan' });
  });

  it('applies to every key of the quota, and ignores fields of a key', async () => {
    const old = await issue();
    const successor = await rotate(old);
    const fields = { name: 'other', role: 'admin', expiresAt: '2999-01-01T00:00:00Z', validKeyCount: 7 };
    await update(successor, { ...fields, plan: 'business' });
    expect((await findKey(old)).plan).toBe('business');
    const { name, role, expiresAt, plan } = await findKey(successor);
    expect([name, role, expiresAt, plan]).toEqual(['test', 'client', null, 'business']);
  });

  it('records one event with the plan and the limits, and none for what is as it was', async () => {
    const key = await issue();
    await update(key, { plan: 'pro' });
    await update(key, { plan: 'pro' });
    expect(await listAuditEvents(key, 'quota.updated')).toEqual([
      expect.objectContaining({
        before: { plan: 'free', perMinute: 60, perDay: 1000, limitsSource: 'plan' },
        after: { plan: 'pro', perMinute: 300, perDay: 10_000, limitsSource: 'plan' },
      }),
    ]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ perMinute: 5 }, 'perDay is required: a quota has both own limits or neither'],
    [{ perMinute: null, perDay: 5 }, 'perMinute is required: a quota has both own limits or neither'],
    [
      { perMinute: 0, perDay: '5' },
      'perMinute must be an integer from 1 to 2147483647, without quotes, fraction or exponent; ' +
        'perDay must be an integer from 1 to 2147483647, without quotes, fraction or exponent',
    ],
  ])(
    'returns 400 and changes nothing for limits that do not go together or are invalid: %j',
    async (body, fault) => {
      const key = await issue();
      expectInvalid(await unchanged(() => update(key, body)), fault);
    },
  );
});

describe('GET /admin/quotas/{quotaId}/rate-limit', () => {
  it('returns 200 with the status that its keys get, and counts nothing', async () => {
    const { quotaId, key } = await issue({ plan: 'pro' });
    admin.store.clock.travelToMinuteStart();
    await use(key);
    const ofKey = await send(`${admin.store.url}/v1/rate-limit`, { key });
    for (const { status, json } of [await rateLimit({ quotaId }), await rateLimit({ quotaId })]) {
      expect([status, json]).toEqual([200, ofKey.json]);
    }
    expect(ofKey.json).toMatchObject({ plan: 'pro', windows: [{ remaining: 299 }, { remaining: 9999 }] });
  });

  it('returns the status even if no key of the quota is valid, and while it is banned', async () => {
    const key = await issue({ plan: 'pro', perMinute: 5, perDay: 50 });
    await use(key.key);
    await revoke(key);
    const { json } = await rateLimit(key);
    expect(json).toMatchObject({
      windows: [
        { limit: 5, remaining: 4 },
        { limit: 50, remaining: 49 },
      ],
    });
    const end = inFuture(HOUR_MS);
    await ban(admin.store.database, key, end);
    const banned = { bannedUntil: end.toISOString(), denialsUntilBan: 0 };
    expect((await rateLimit(key)).json).toMatchObject(banned);
  });

  it('returns 503 while the counter store is unavailable, as only this replica would count', async () => {
    const key = await issue();
    const counters = admin.store.app.get(FallbackCounterStore);
    const known = await counters.peek({ bucketKey: 'quota:x', perMinute: 1, perDay: 1 });
    const peek = jest.spyOn(counters, 'peek').mockResolvedValue({ ...known, degraded: true });
    expectError(await rateLimit(key), 503, 'service_unavailable');
    peek.mockRestore();
  });
});

describe('POST /admin/quotas/{quotaId}/unban', () => {
  it('needs no body, even when Content-Type is set', async () => {
    const { quotaId } = await issue();
    const { status } = await send(`${admin.store.url}/admin/quotas/${quotaId}/unban`, {
      method: 'POST',
      key: admin.administrator.key,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(status).toBe(200);
  });
});

describe('a ban', () => {
  const until = () => inFuture(HOUR_MS);
  const isListed = async (banned: boolean, { id }: { id: string }) =>
    (await sendAsAdmin(`GET /admin/keys?limit=100&plan=bans&banned=${banned}`)).json.some(
      (key: Key) => key.id === id,
    );

  beforeAll(() => sendAsAdmin('PUT /admin/plans/bans', { perMinute: 100, perDay: 1000 }));

  it('is shown on every key of the quota until its end, and on no other key', async () => {
    const [key, other] = [await issue({ plan: 'bans' }), await issue({ plan: 'bans' })];
    const successor = await rotate(key);
    const end = until();
    await ban(admin.store.database, key, end);
    for (const banned of [key, successor]) {
      expect((await findKey(banned)).bannedUntil).toBe(end.toISOString());
      expect((await find(banned)).bannedUntil).toBe(end.toISOString());
      expect([await isListed(true, banned), await isListed(false, banned)]).toEqual([true, false]);
    }
    expect((await findKey(other)).bannedUntil).toBeNull();
    expect([await isListed(true, other), await isListed(false, other)]).toEqual([false, true]);
  });

  it('is neither shown nor lifted after its end', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    admin.store.clock.travel(HOUR_MS);
    expect((await findKey(key)).bannedUntil).toBeNull();
    expect(await isListed(true, key)).toBe(false);
    expect((await unchanged(() => unban(key))).json).toEqual(await find(key));
  });

  it('is lifted at once for every key of the quota', async () => {
    const key = await issue({ plan: 'bans' });
    const successor = await rotate(key);
    await ban(admin.store.database, key, until());
    const { status, json } = await unban(successor);
    expect([status, json]).toEqual([200, await find(key)]);
    expect((await findKey(key)).bannedUntil).toBeNull();
    const end = await bannedUntil(admin.store.database, key);
    expect(end?.getTime()).toBeLessThanOrEqual(admin.store.clock.now());
  });

  it('is lifted once when several requests lift it concurrently', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    const responses = await Promise.all(Array.from({ length: 5 }, () => unban(key)));
    expect(responses.map(({ json }) => json)).toEqual(Array(5).fill(await find(key)));
    expect(await listAuditEvents(key, 'quota.unbanned')).toHaveLength(1);
  });
});

describe('a change after which the counter store is unavailable', () => {
  it('returns 200 with the bans read before the change, because 503 would mean no change', async () => {
    const [revoked, moved, freed] = [await issue(), await issue(), await issue()];
    await ban(admin.store.database, freed, inFuture(HOUR_MS));
    const plan = { plan: 'pro' };
    const counters = admin.store.app.get(FallbackCounterStore);
    const away = counterStoreError(new Error('away'), false);
    for (const [action, key, expected] of [
      [() => revoke(revoked), revoked, { state: 'revoked' }],
      [() => update(moved, plan), moved, plan],
      [() => unban(freed), freed, { bannedUntil: null }],
    ] as const) {
      const known = await counters.bans();
      const bans = jest.spyOn(counters, 'bans').mockRejectedValue(away).mockResolvedValueOnce(known);
      const { status } = await action();
      bans.mockRestore();
      expect(status).toBe(200);
      expect(await findKey(key)).toMatchObject(expected);
    }
  });
});
