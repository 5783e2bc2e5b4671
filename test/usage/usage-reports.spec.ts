import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { linksOf } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const REPORTS = ['totals', 'keys', 'operations'];
const DELETED = {
  id: '00000000-0000-7000-8000-00000000dead',
  quotaId: '00000000-0000-7000-8000-00000000beef',
};

let store: TestApplication;
let admin: IssuedKey;
let ann: IssuedKey;
let bob: IssuedKey;

/** Usage of one hour and its day. The administrator's own requests are in the minutes, hours and days of the clock, in 2027. */
async function use(
  { id, quotaId }: { id: string; quotaId: string },
  hour: string,
  operation: string,
  counted: [
    succeeded: number,
    redirected: number,
    clientErrors: number,
    serverErrors: number,
    refusals: number,
  ],
): Promise<void> {
  for (const period of ['hour', 'day']) {
    await store.database.query(
      `INSERT INTO usage AS stored (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, refusals, last_at)
       VALUES ($1, $2, $3::usage_period, date_trunc($3::text, $4::timestamptz, 'UTC'), $5, $6, $7, $8, $9, $10, $11, $4)
       ON CONFLICT (key_id, period, starts_at, operation, deprecated) DO UPDATE SET
         succeeded = stored.succeeded + EXCLUDED.succeeded, last_at = greatest(stored.last_at, EXCLUDED.last_at)`,
      [id, quotaId, period, hour, operation, operation === 'getPet', ...counted],
    );
  }
}

beforeAll(async () => {
  store = await startApplication();
  store.clock.travelTo(new Date('2027-03-05T12:00:30.000Z'));
  admin = await store.issue({ role: 'admin', ...UNLIMITED });
  ann = await store.issue({ name: 'Ann', ...UNLIMITED });
  bob = await store.issue({ name: 'Bob', ...UNLIMITED });
  await use(ann, '2027-03-03T09:00:00Z', 'listPets', [5, 1, 2, 1, 1]);
  await use(ann, '2027-03-03T09:00:00Z', 'getPet', [3, 0, 0, 0, 0]);
  await use(ann, '2027-03-04T10:00:00Z', 'listPets', [1, 0, 0, 0, 0]);
  await use(bob, '2027-03-04T10:00:00Z', 'listPets', [20, 0, 0, 0, 0]);
  await use(DELETED, '2027-03-04T11:00:00Z', 'createPet', [2, 0, 0, 0, 0]);
});
afterAll(() => store.close());

const get = (path: string, key = admin.key) => send(`${store.url}/admin/usage/${path}`, { key });
/** All that the tests inserted, without the administrator's own requests. */
const UNTIL = 'until=2027-03-05T00:00:00Z';

const counts = (statuses: Record<string, number>, refusals = 0) => ({
  requests: Object.values(statuses).reduce((sum, each) => sum + each, 0),
  refusals,
  statuses: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, ...statuses },
});

describe('GET /admin/usage/totals', () => {
  const thirdOfMarch = {
    startsAt: '2027-03-03T00:00:00.000Z',
    ...counts({ '2xx': 8, '3xx': 1, '4xx': 2, '5xx': 1 }, 1),
  };
  const fourthOfMarch = { startsAt: '2027-03-04T00:00:00.000Z', ...counts({ '2xx': 23 }) };

  it('returns the requests of all keys by day, newest first, with the rate-limit headers', async () => {
    const response = await get(`totals?${UNTIL}`);
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
    expect(response.json).toEqual([fourthOfMarch, thirdOfMarch]);
  });

  it('includes requests of the last second, also those that wait in the journal', async () => {
    await send(`${store.url}/v1/pets`, { key: ann.key });
    await new Promise((resolve) => {
      setTimeout(resolve, 1000);
    });
    const { json } = await get(`totals?key=${ann.id}&period=minute`);
    expect(json).toEqual([{ startsAt: '2027-03-05T12:00:00.000Z', ...counts({ '2xx': 1 }) }]);
  });

  it('returns those of one key, and an empty array for a key without requests', async () => {
    expect((await get(`totals?${UNTIL}&key=${bob.id}`)).json).toEqual([
      { startsAt: '2027-03-04T00:00:00.000Z', ...counts({ '2xx': 20 }) },
    ]);
    expect((await get('totals?key=00000000-0000-7000-8000-000000000000')).json).toEqual([]);
  });

  it('includes a period that starts at since, and excludes one that starts at until', async () => {
    const hours = async (range: string) => {
      const { json } = await get(`totals?period=hour&${range}`);
      return json.map(({ startsAt }: { startsAt: string }) => startsAt.slice(8, 13));
    };
    expect(await hours('since=2027-03-03T09:00:00Z&until=2027-03-04T11:00:00Z')).toEqual(['04T10', '03T09']);
    expect(await hours('since=2027-03-03T09:00:00.001Z&until=2027-03-04T11:00:00.001Z')).toEqual([
      '04T11',
      '04T10',
    ]);
    expect(await hours('since=2027-03-04T12:00:00%2B01:00&until=2027-03-04T12:00:00Z')).toEqual(['04T11']);
    expect(await hours('since=0001-01-01T00:00:00Z&until=2027-03-04T10:00:00Z')).toEqual(['03T09']);
    expect(await hours('since=9999-01-01T00:00:00Z')).toEqual([]);
  });

  it('returns each period once over all pages, and keeps the filters in the links', async () => {
    const pages = await readPages(
      (target) => send(`${store.url}${target}`, { key: admin.key }),
      `/admin/usage/totals?${UNTIL}&limit=1`,
    );
    expect(pages).toEqual([[fourthOfMarch], [thirdOfMarch]]);
    const filters = `limit=1&period=hour&since=2027-03-01T00%3A00%3A00.000Z&until=2027-03-05T00%3A00%3A00.000Z&key=${ann.id}`;
    const links = linksOf(await get(`totals?${filters}`));
    expect(links['first']).toBe(`/admin/usage/totals?${filters}`);
    expect(links['next']).toMatch(/&cursor=[\w-]+$/);
  });

  it.each(['yesterday', '0000-01-01T00:00:00Z', ''])('returns 400 for a forged cursor: %j', async (text) => {
    expectError(await get(`totals?cursor=${encodeCursor(text)}`), 400, 'invalid_request');
  });
});

describe('GET /admin/usage/keys', () => {
  const bobsUsage = () => ({
    keyId: bob.id,
    keyName: 'Bob',
    quotaId: bob.quotaId,
    ...counts({ '2xx': 20 }),
    lastAt: '2027-03-04T10:00:00.000Z',
  });
  const annsUsage = () => ({
    keyId: ann.id,
    keyName: 'Ann',
    quotaId: ann.quotaId,
    ...counts({ '2xx': 9, '3xx': 1, '4xx': 2, '5xx': 1 }, 1),
    lastAt: '2027-03-04T10:00:00.000Z',
  });

  it('returns the keys with the most requests, most first, also one that was deleted by SQL', async () => {
    const response = await get(`keys?${UNTIL}`);
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
    expect(response.headers.get('link')).toBeNull();
    expect(response.json).toEqual([
      bobsUsage(),
      annsUsage(),
      {
        keyId: DELETED.id,
        keyName: null,
        quotaId: DELETED.quotaId,
        ...counts({ '2xx': 2 }),
        lastAt: '2027-03-04T11:00:00.000Z',
      },
    ]);
  });

  it('returns at most limit keys, of the range and the period', async () => {
    expect((await get(`keys?${UNTIL}&limit=1`)).json).toEqual([bobsUsage()]);
    const { json } = await get('keys?period=hour&since=2027-03-03T09:00:00Z&until=2027-03-03T10:00:00Z');
    expect(json).toMatchObject([{ keyId: ann.id, requests: 12, lastAt: '2027-03-03T09:00:00.000Z' }]);
    expect((await get('keys?period=minute&until=2027-03-05T00:00:00Z')).json).toEqual([]);
  });
});

describe('GET /admin/usage/operations', () => {
  it('returns the requests for each operation, most first', async () => {
    const response = await get(`operations?${UNTIL}`);
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
    expect(response.json).toEqual([
      {
        operation: 'listPets',
        deprecated: false,
        ...counts({ '2xx': 26, '3xx': 1, '4xx': 2, '5xx': 1 }, 1),
        lastAt: '2027-03-04T10:00:00.000Z',
      },
      { operation: 'getPet', deprecated: true, ...counts({ '2xx': 3 }), lastAt: '2027-03-03T09:00:00.000Z' },
      {
        operation: 'createPet',
        deprecated: false,
        ...counts({ '2xx': 2 }),
        lastAt: '2027-03-04T11:00:00.000Z',
      },
    ]);
  });

  it('returns those of one key and a range', async () => {
    const { json } = await get(`operations?${UNTIL}&since=2027-03-04T00:00:00Z&key=${ann.id}`);
    expect(json).toMatchObject([{ operation: 'listPets', requests: 1 }]);
  });
});

describe.each(REPORTS)('GET /admin/usage/%s', (report) => {
  const DATE_TIME = 'must be a date-time with its offset, such as 2027-01-01T00:00:00Z';

  it.each([
    ['period=week', 'period must be one of minute, hour, day'],
    ['period=day&period=day', 'period must be given once'],
    ['since=yesterday', `since ${DATE_TIME}`],
    ['since=2027-03-05', `since ${DATE_TIME}`],
    ['since=2027-03-05T00:00:00', `since ${DATE_TIME}`],
    ['since=', `since ${DATE_TIME}`],
    ['since=0000-01-01T00:00:00Z', `since ${DATE_TIME}`],
    ['until=2027-02-30T00:00:00Z', `until ${DATE_TIME}`],
    ['since=2027-03-05T00:00:00Z&since=2027-03-05T00:00:00Z', 'since must be given once'],
    ['until=x&until=x', 'until must be given once'],
    ['since=2027-03-05T00:00:00Z&until=2027-03-05T00:00:00Z', 'since must be before until'],
    ['since=2027-03-05T00:00:01Z&until=2027-03-05T00:00:00Z', 'since must be before until'],
  ])('returns 400 for ?%s', async (query, fault) => {
    expectError(await get(`${report}?${query}`), 400, 'invalid_request', `The request is invalid: ${fault}.`);
  });

  it('returns 403 to a client, and 401 without a key', async () => {
    expectError(await get(report, ann.key), 403, 'forbidden');
    expectError(await send(`${store.url}/admin/usage/${report}`), 401, 'missing_api_key');
  });
});

describe('GET /admin/usage/totals, /admin/usage/keys and /admin/usage/operations', () => {
  const KEY = 'key must be the id of a key';
  const TWICE = 'key=00000000-0000-7000-8000-000000000000&key=00000000-0000-7000-8000-000000000000';

  it.each([
    ['totals', 'limit=101', 'limit must be an integer from 1 to 100'],
    ['totals', 'limit=5&limit=5', 'limit must be given once'],
    ['totals', 'key=nobody', KEY],
    ['totals', 'key=', KEY],
    ['totals', TWICE, 'key must be given once'],
    ['keys', 'limit=0', 'limit must be an integer from 1 to 100'],
    ['operations', 'key=nobody', KEY],
    ['operations', TWICE, 'key must be given once'],
  ])('return 400 for an invalid limit or key: %s?%s', async (report, query, fault) => {
    expectError(await get(`${report}?${query}`), 400, 'invalid_request', `The request is invalid: ${fault}.`);
  });
});
