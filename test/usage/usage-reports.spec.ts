import type { IssuedKey } from '../../src/keys/key.schemas.js';

import { useApplication } from '../support/service/application.js';
import { expectInvalid } from '../support/http/expectations.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

import { readPages } from '../support/http/pages.js';
import { UNLIMITED } from '../support/keys/keys.js';
import type { KeyUsage } from '../../src/usage/usage.schemas.js';

const DELETED = {
  id: '00000000-0000-7000-8000-00000000dead',
  quotaId: '00000000-0000-7000-8000-00000000beef',
};

const store = useApplication();
let admin: IssuedKey;
let ann: IssuedKey;
let bob: IssuedKey;

async function use(
  { id, quotaId }: { id: string; quotaId: string },
  hour: string,
  operation: string,
  ...counted: [
    succeeded: number,
    redirected?: number,
    clientErrors?: number,
    serverErrors?: number,
    refusals?: number,
  ]
): Promise<void> {
  const [succeeded, redirected = 0, clientErrors = 0, serverErrors = 0, refusals = 0] = counted;
  for (const period of ['hour', 'day']) {
    await store.database.query(
      `INSERT INTO usage AS stored
       VALUES ($1, $2, $3, date_trunc($3::text, $4::timestamptz, 'UTC'), $5, $5 = 'getPet',
         $6, $7, $8, $9, $10, $4)
       ON CONFLICT (key_id, period, starts_at, operation, deprecated) DO UPDATE SET
         succeeded = stored.succeeded + EXCLUDED.succeeded,
         last_request_at = greatest(stored.last_request_at, EXCLUDED.last_request_at)`,
      [id, quotaId, period, hour, operation, succeeded, redirected, clientErrors, serverErrors, refusals],
    );
  }
}

beforeAll(async () => {
  store.clock.travelTo(new Date('2027-03-05T12:00:30.000Z'));
  admin = await store.issue({ role: 'admin', ...UNLIMITED });
  ann = await store.issue({ name: 'Ann', ...UNLIMITED });
  bob = await store.issue({ name: 'Bob', ...UNLIMITED });
  await use(ann, '2027-03-03T09:00:00Z', 'listPets', 5, 1, 2, 1, 1);
  await use(ann, '2027-03-03T09:00:00Z', 'getPet', 3);
  await use(ann, '2027-03-04T10:00:00Z', 'listPets', 1);
  await use(bob, '2027-03-04T10:00:00Z', 'listPets', 20);
  await use(DELETED, '2027-03-04T11:00:00Z', 'createPet', 2);
});

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

  it('returns the requests of all keys by day, newest first', async () => {
    const response = await get(`totals?${UNTIL}`);
    expect(response.status).toBe(200);
    expect(response.json).toEqual([fourthOfMarch, thirdOfMarch]);
  });

  it('includes requests of the last second, also those that wait in the journal', async () => {
    await send(`${store.url}/v1/pets`, { key: ann.key });
    const total = { startsAt: '2027-03-05T12:00:00.000Z', ...counts({ '2xx': 1 }) };
    await eventually(
      async () => expect((await get(`totals?key=${ann.id}&period=minute`)).json).toEqual([total]),
      1000,
    );
  });

  it('returns those of one key, and an empty array for a key without requests', async () => {
    expect((await get(`totals?${UNTIL}&key=${bob.id}`)).json).toEqual([
      { startsAt: '2027-03-04T00:00:00.000Z', ...counts({ '2xx': 20 }) },
    ]);
    expect((await get('totals?key=00000000-0000-7000-8000-000000000000')).json).toStrictEqual([]);
  });

  it('returns those of all keys of a quota as one, so a key and its successor', async () => {
    const key = await store.issue(UNLIMITED);
    const successor = (
      await send(`${store.url}/admin/keys/${key.id}/rotate`, { method: 'POST', key: admin.key })
    ).json;
    await use(key, '2027-03-01T10:00:00Z', 'listPets', 2);
    await use(successor, '2027-03-01T10:00:00Z', 'createPet', 3);
    const range = 'until=2027-03-02T00:00:00Z';
    expect((await get(`totals?${range}&quota=${key.quotaId}`)).json).toEqual([
      { startsAt: '2027-03-01T00:00:00.000Z', ...counts({ '2xx': 5 }) },
    ]);
    const operations = (await get(`operations?${range}&quota=${key.quotaId}`)).json;
    expect(operations.map(({ operation }: { operation: string }) => operation)).toEqual([
      'createPet',
      'listPets',
    ]);
    expectInvalid(await get('totals?quota=x'), 'quota must be the id of a quota');
    await store.database.query('DELETE FROM usage WHERE quota_id = $1', [key.quotaId]);
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
    expect(await hours('since=9999-01-01T00:00:00Z')).toStrictEqual([]);
  });

  it('returns each period once over all pages', async () => {
    const pages = await readPages(
      (target) => send(`${store.url}${target}`, { key: admin.key }),
      `/admin/usage/totals?${UNTIL}&limit=1`,
    );
    expect(pages).toEqual([[fourthOfMarch], [thirdOfMarch]]);
  });
});

describe('GET /admin/usage/keys', () => {
  const keyUsage = (
    { id, quotaId, ...hints }: Pick<IssuedKey, 'id' | 'quotaId'> & Partial<IssuedKey>,
    keyName: string | null,
    hour: string,
    statuses: Record<string, number>,
    refusals = 0,
  ) => ({
    keyId: id,
    keyName,
    prefix: hints.prefix ?? null,
    lastFour: hints.lastFour ?? null,
    quotaId,
    ...counts(statuses, refusals),
    lastAt: `2027-03-04T${hour}:00:00.000Z`,
  });
  const annsStatuses = { '2xx': 9, '3xx': 1, '4xx': 2, '5xx': 1 };

  it('returns the keys with the most requests, most first, also one that was deleted by SQL', async () => {
    const response = await get(`keys?${UNTIL}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('link')).toBeNull();
    expect(response.json).toEqual([
      keyUsage(bob, 'Bob', '10', { '2xx': 20 }),
      keyUsage(ann, 'Ann', '10', annsStatuses, 1),
      keyUsage(DELETED, null, '11', { '2xx': 2 }),
    ]);
  });

  it('returns by choice a key and its successors as one, under the newest with requests', async () => {
    const first = await store.issue({ name: 'Shop', ...UNLIMITED });
    const rotate = async ({ id }: { id: string }): Promise<IssuedKey> =>
      (await send(`${store.url}/admin/keys/${id}/rotate`, { method: 'POST', key: admin.key })).json;
    const second = await rotate(first);
    const third = await rotate(second);
    await use(first, '2027-03-02T10:00:00Z', 'listPets', 6, 0, 0, 0, 1);
    await use(second, '2027-03-02T09:00:00Z', 'createPet', 5);
    await use(second, '2027-03-02T11:00:00Z', 'listPets', 1);
    await use(bob, '2027-03-02T10:00:00Z', 'listPets', 7);
    const range = 'since=2027-03-02T00:00:00Z&until=2027-03-03T00:00:00Z';
    const top = async (query = '') =>
      (await get(`keys?${range}${query}`)).json.map((each: KeyUsage) => [each.keyId, each.requests]);
    const apart = [
      [bob.id, 7],
      [first.id, 6],
      [second.id, 6],
    ];
    expect(await top()).toEqual(apart);
    expect(await top('&by=key')).toEqual(apart);
    expect(await top('&by=quota')).toEqual([
      [second.id, 12],
      [bob.id, 7],
    ]);
    const [shop] = (await get(`keys?${range}&by=quota&limit=1`)).json;
    expect(shop).toEqual({
      keyId: second.id,
      keyName: 'Shop',
      prefix: second.prefix,
      lastFour: second.lastFour,
      quotaId: first.quotaId,
      ...counts({ '2xx': 12 }, 1),
      lastAt: '2027-03-02T11:00:00.000Z',
    });
    await use(third, '2027-03-02T10:00:00Z', 'listPets', 1);
    expect(await top('&by=quota&limit=1')).toEqual([[third.id, 13]]);
    expectInvalid(await get('keys?by=name'), 'by must be one of key, quota');
    await store.database.query("DELETE FROM usage WHERE starts_at < '2027-03-03T00:00:00Z'");
  });

  it('returns at most limit keys, of the range and the period', async () => {
    expect((await get(`keys?${UNTIL}&limit=1`)).json).toMatchObject([{ keyId: bob.id }]);
    const { json } = await get('keys?period=hour&since=2027-03-03T09:00:00Z&until=2027-03-03T10:00:00Z');
    expect(json).toMatchObject([{ keyId: ann.id, requests: 12, lastAt: '2027-03-03T09:00:00.000Z' }]);
    expect((await get('keys?period=minute&until=2027-03-05T00:00:00Z')).json).toStrictEqual([]);
  });
});

describe('GET /admin/usage/operations', () => {
  it('returns the requests for each operation, most first', async () => {
    const operationUsage = (
      operation: string,
      statuses: Record<string, number>,
      lastHour: string,
      refusals = 0,
    ) => ({
      operation,
      deprecated: operation === 'getPet',
      ...counts(statuses, refusals),
      lastAt: `2027-03-${lastHour}:00:00.000Z`,
    });
    const { status, json } = await get(`operations?${UNTIL}`);
    expect([status, json]).toEqual([
      200,
      [
        operationUsage('listPets', { '2xx': 26, '3xx': 1, '4xx': 2, '5xx': 1 }, '04T10', 1),
        operationUsage('getPet', { '2xx': 3 }, '03T09'),
        operationUsage('createPet', { '2xx': 2 }, '04T11'),
      ],
    ]);
  });

  it('returns those of one key and a range', async () => {
    const { json } = await get(`operations?${UNTIL}&since=2027-03-04T00:00:00Z&key=${ann.id}`);
    expect(json).toMatchObject([{ operation: 'listPets', requests: 1 }]);
  });
});

describe.each(['totals', 'keys', 'operations'])('GET /admin/usage/%s', (report) => {
  it.each(['00', '01'])('returns 400 unless since is before until: %s seconds later', async (seconds) => {
    const response = await get(`${report}?since=2027-03-05T00:00:${seconds}Z&until=2027-03-05T00:00:00Z`);
    expectInvalid(response, 'since must be before until');
  });
});
