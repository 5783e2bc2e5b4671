import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { DAY_MS, MINUTE_MS } from '../support/time/clock.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { recordUsage } from '../support/keys/usage.js';
import { startApplication } from '../support/service/application.js';

const NOON = new Date('2027-03-05T12:00:30.000Z');
const NOBODY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

const admin = useAdministration({ environment: { USAGE_MINUTE_RETENTION: 30 * DAY_MS } });
const { store } = admin;

// The smallest plan depends on all that exist.
beforeAll(() =>
  store.database.query("DELETE FROM plans WHERE name NOT IN ('free', 'pro', 'business', 'enterprise')"),
);
beforeEach(() => store.clock.travelTo(NOON));

/** Records requests of a key for one operation in one UTC minute. */
async function use(
  { id, quotaId }: Pick<IssuedKey, 'id' | 'quotaId'>,
  startsAt: string,
  { succeeded = 0, redirected = 0, clientErrors = 0, serverErrors = 0, denied = 0, operation = 'listPets' },
): Promise<void> {
  await store.database.query(
    `INSERT INTO usage VALUES ($1, $2, 'minute', $3, $4, false, $5, $6, $7, $8, $9, $3)`,
    [id, quotaId, startsAt, operation, succeeded, redirected, clientErrors, serverErrors, denied],
  );
}

const whatIf = (quotaId: string, query: string) =>
  admin.send(`GET /admin/quotas/${quotaId}/what-if?${query}`);

/** Returns the smallest plans for no denied request, and for one in a thousand. */
const smallest = (none: string | null, few: string | null) => [
  { maxDeniedRatio: 0, plan: none },
  { maxDeniedRatio: 0.001, plan: few },
];

const NOTHING = {
  recordedDays: 0,
  requests: 0,
  denied: 0,
  deniedMinutes: 0,
  deniedDays: 0,
  worstMinute: null,
};

describe('GET /admin/quotas/{quotaId}/what-if', () => {
  it('counts which real requests would have been denied, but none for the rate-limit status', async () => {
    const { quotaId, key } = await admin.issue({ plan: 'enterprise', perMinute: 3, perDay: 100 });
    for (let sent = 0; sent < 5; sent += 1) {
      store.clock.travelTo(NOON);
      await send(`${store.url}/v1/pets`, { key });
      await send(`${store.url}/v1/rate-limit`, { key });
    }
    store.clock.travelTo(new Date(NOON.getTime() + MINUTE_MS));
    await send(`${store.url}/v1/pets/999`, { key });
    await recordUsage(store);
    const { status, json } = await whatIf(quotaId, 'perMinute=4&perDay=5');
    expect([status, json]).toEqual([
      200,
      {
        perMinute: 4,
        perDay: 5,
        since: '2027-02-04T00:00:00.000Z',
        until: null,
        recordedDays: 1,
        requests: 6,
        denied: 1,
        deniedMinutes: 1,
        deniedDays: 1,
        worstMinute: { startsAt: '2027-03-05T12:00:00.000Z', requests: 5, denied: 1 },
        smallestPlans: smallest('free', 'free'),
      },
    ]);
    const { json: current } = await whatIf(quotaId, 'perMinute=3&perDay=100');
    expect(current).toMatchObject({ denied: 2 });
  });

  it('adds the requests of all keys of the quota, of every status, and of no other quota', async () => {
    const old = await admin.issue();
    const { json: next } = await admin.send(`POST /admin/keys/${old.id}/rotate`, {});
    await use(old, '2027-03-04T10:00:00Z', { succeeded: 30, redirected: 20, clientErrors: 9, denied: 4 });
    await use(next, '2027-03-04T10:00:00Z', { serverErrors: 2, operation: 'createPet' });
    await use(await admin.issue(), '2027-03-04T10:00:00Z', { succeeded: 500 });
    expect((await whatIf(old.quotaId, 'plan=free')).json).toMatchObject({
      perMinute: 60,
      perDay: 1000,
      requests: 61,
      denied: 1,
      worstMinute: { startsAt: '2027-03-04T10:00:00.000Z', requests: 61, denied: 1 },
      smallestPlans: smallest('pro', 'pro'),
    });
  });

  it('has a full day for each UTC day', async () => {
    const key = await admin.issue();
    for (const minute of ['03-03T23:58', '03-03T23:59', '03-04T00:00', '03-04T00:01']) {
      await use(key, `2027-${minute}:00Z`, { succeeded: 10 });
    }
    expect((await whatIf(key.quotaId, 'perMinute=10&perDay=15')).json).toMatchObject({
      denied: 10,
      deniedMinutes: 2,
      deniedDays: 2,
      worstMinute: { startsAt: '2027-03-03T23:59:00.000Z', denied: 5 },
    });
  });

  it('reads at most 30 UTC days, today included', async () => {
    const key = await admin.issue();
    for (const day of ['2027-02-03', '2027-02-04', '2027-03-04', '2027-03-05']) {
      await use(key, `${day}T00:00:00Z`, { succeeded: 1 });
    }
    const { json } = await whatIf(key.quotaId, 'plan=free');
    expect(json).toMatchObject({ since: '2027-02-04T00:00:00.000Z', recordedDays: 3, requests: 3 });
  });

  it('begins with the first UTC day of the range, and ends with its last minute', async () => {
    const key = await admin.issue();
    for (const startsAt of ['03-01T23:59', '03-02T00:00', '03-02T23:59', '03-03T00:00', '03-03T00:01']) {
      await use(key, `2027-${startsAt}:00Z`, { succeeded: 10 });
    }
    const tried = async (range: string) => {
      const { since, until, recordedDays, requests } = (
        await whatIf(key.quotaId, `perMinute=20&perDay=10&${range}`)
      ).json;
      return [since.slice(5, 16), until?.slice(5, 16), recordedDays, requests];
    };
    expect(await tried('since=2027-03-02T00:00:00Z')).toEqual(['03-02T00:00', undefined, 2, 40]);
    expect(await tried('since=2027-03-01T00:00:01Z&until=2027-03-03T00:01:00Z')).toEqual([
      '03-02T00:00',
      '03-03T00:01',
      2,
      30,
    ]);
    expect(await tried('until=2027-03-03T00:00:00Z')).toEqual(['02-04T00:00', '03-03T00:00', 2, 30]);
    expect(await tried('since=9999-12-31T12:00:00Z')).toEqual(['03-06T00:00', undefined, 0, 0]);
  });

  it.each([
    ['since=2027-03-02T00:00:00Z&until=2027-03-02T00:00:00Z', '2027-03-02'],
    ['since=2027-03-01T12:00:00Z&until=2027-03-01T18:00:00Z', '2027-03-02'],
    ['until=0001-01-01T00:00:00Z', '2027-02-04'],
  ])('returns 400 when the range has no whole day that is kept: %s', async (range, day) => {
    expectInvalid(
      await whatIf(admin.administrator.quotaId, `plan=pro&${range}`),
      `until must be after ${day}T00:00:00.000Z, the start of the first whole UTC day of the range whose ` +
        'minutes are kept',
    );
  });

  it('returns the smallest plan that denies none, and the smallest that denies at most 0.1 %', async () => {
    const key = await admin.issue();
    await use(key, '2027-03-04T10:00:00Z', { succeeded: 301 });
    for (const minute of [11, 12, 13, 14, 15]) {
      await use(key, `2027-03-04T10:${minute}:00Z`, { succeeded: 200 });
    }
    const found = async () => (await whatIf(key.quotaId, 'plan=free')).json.smallestPlans;
    expect(await found()).toEqual(smallest('business', 'pro'));
    await admin.send('PUT /admin/plans/between', { perMinute: 301, perDay: 9_999 });
    expect(await found()).toEqual(smallest('between', 'between'));
    await admin.send('PUT /admin/plans/a-little-more', { perMinute: 302, perDay: 9_999 });
    expect(await found()).toEqual(smallest('between', 'between'));
    await use(key, '2027-03-04T10:20:00Z', { succeeded: 1001 });
    expect(await found()).toEqual(smallest(null, 'business'));
    await store.database.query("DELETE FROM plans WHERE name IN ('between', 'a-little-more')");
  });

  it('returns zeros for a quota without requests', async () => {
    const { quotaId } = await admin.issue();
    expect((await whatIf(quotaId, 'plan=pro')).json).toEqual({
      perMinute: 300,
      perDay: 10_000,
      since: '2027-02-04T00:00:00.000Z',
      until: null,
      ...NOTHING,
      smallestPlans: smallest('free', 'free'),
    });
  });

  it("tries a given limit instead of the plan's, which is lower or higher, or does not exist", async () => {
    const { quotaId } = await admin.issue();
    const tried = async (query: string) => {
      const { perMinute, perDay } = (await whatIf(quotaId, query)).json;
      return [perMinute, perDay];
    };
    expect(await tried('plan=pro')).toEqual([300, 10_000]);
    expect(await tried('plan=pro&perDay=1')).toEqual([300, 1]);
    expect(await tried('plan=pro&perMinute=301')).toEqual([301, 10_000]);
    expect(await tried('plan=enterprise&perMinute=2&perDay=3')).toEqual([2, 3]);
  });

  it.each([
    '',
    'perMinute=5',
    'perDay=5',
    'plan=enterprise',
    'plan=enterprise&perDay=1',
    'plan=gold',
    'plan=constructor',
  ])('returns 400 unless a plan with limits or both limits are given: "%s"', async (query) => {
    const message =
      'The request is invalid: give a plan with limits (free, pro, business), or those per minute and ' +
      'per day.';
    expectError(await whatIf(admin.administrator.quotaId, query), 400, 'invalid_request', message);
  });

  const LIMIT = 'must be an integer from 1 to 2147483647';
  it.each([
    ['perMinute=2147483648&perDay=1', `perMinute ${LIMIT}`],
    ['perMinute=9999999999&perDay=1', `perMinute ${LIMIT}`],
    ['perMinute=0&perDay=1', `perMinute ${LIMIT}`],
    ['perMinute=-1&perDay=0', `perMinute ${LIMIT}; perDay ${LIMIT}`],
    ['perMinute=1e3&perDay=1', `perMinute ${LIMIT}`],
    ['perMinute=1&perDay=', `perDay ${LIMIT}`],
    ['perMinute=1&perMinute=2&perDay=1', 'perMinute must be given once'],
    ['plan=', 'plan must be the name of a plan'],
    ['plan=%00', 'plan must be the name of a plan'],
    ["plan='%20OR%20true%20--", 'plan must be the name of a plan'],
    ['plan=pro&plan=free', 'plan must be given once'],
  ])('returns 400 that names the parameters that are wrong: "%s"', async (query, faults) => {
    expectInvalid(await whatIf(admin.administrator.quotaId, query), faults);
  });

  it('takes the largest limits', async () => {
    const { status, json } = await whatIf(
      admin.administrator.quotaId,
      'perMinute=2147483647&perDay=2147483647',
    );
    expect([status, json.perDay, json.denied]).toEqual([200, 2_147_483_647, 0]);
  });

  it('returns 404 for an unknown quota, and 403 to a client', async () => {
    for (const id of [NOBODY, 'x', '%00', "1'%20OR%20'1'='1"]) {
      expectError(await whatIf(id, 'plan=pro'), 404, 'not_found');
    }
    const { id, quotaId, key } = await admin.issue();
    const message = `There is no quota with the id "${id}".`;
    expectError(await whatIf(id, 'plan=pro'), 404, 'not_found', message);
    expectError(
      await send(`${store.url}/admin/quotas/${quotaId}/what-if?plan=pro`, { key }),
      403,
      'forbidden',
    );
  });

  it.each([
    ['of three days by default', {}, '2027-03-03'],
    ['as the setting has it', { USAGE_MINUTE_RETENTION: 2 * DAY_MS }, '2027-03-04'],
  ])('begins with the first UTC day whose minutes are all kept, %s', async (_name, environment, day) => {
    const other = await startApplication({ environment, clock: store.clock });
    store.clock.travelTo(NOON);
    const { quotaId, key } = await other.issue({ role: 'admin' });
    const { json } = await send(`${other.url}/admin/quotas/${quotaId}/what-if?plan=pro`, { key });
    expect(json).toMatchObject({ since: `${day}T00:00:00.000Z` });
    await other.close();
  });
});
