import type { IssuedKey } from '../../src/keys/key.schemas.js';

import { useApplication } from '../support/service/application.js';
import { expectInvalid } from '../support/http/expectations.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { encodeCursor } from '../../src/schemas/pagination.js';

import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { UNLIMITED } from '../support/keys/keys.js';
import type { OperationUsage, TopUsage } from '../../src/usage/usage.schemas.js';

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
    denied?: number,
  ]
): Promise<void> {
  const [succeeded, redirected = 0, clientErrors = 0, serverErrors = 0, denied = 0] = counted;
  for (const period of ['hour', 'day']) {
    await store.database.query(
      `INSERT INTO usage AS stored
       VALUES ($1, $2, $3, date_trunc($3::text, $4::timestamptz, 'UTC'), $5, $5 = 'getPet',
         $6, $7, $8, $9, $10, $4)
       ON CONFLICT (key_id, period, starts_at, operation, deprecated) DO UPDATE SET
         succeeded = stored.succeeded + EXCLUDED.succeeded,
         last_request_at = greatest(stored.last_request_at, EXCLUDED.last_request_at)`,
      [id, quotaId, period, hour, operation, succeeded, redirected, clientErrors, serverErrors, denied],
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

const counts = (statuses: Record<string, number>, denied = 0) => ({
  requests: Object.values(statuses).reduce((sum, each) => sum + each, 0),
  denied,
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

  it('includes requests of the last second, those that wait in the journal too', async () => {
    await send(`${store.url}/v1/pets`, { key: ann.key });
    const total = { startsAt: '2027-03-05T12:00:00.000Z', ...counts({ '2xx': 1 }) };
    await eventually(
      async () => expect((await get(`totals?keyId=${ann.id}&period=minute`)).json).toEqual([total]),
      1000,
    );
  });

  it('returns those of one key, and an empty array for a key without requests', async () => {
    expect((await get(`totals?${UNTIL}&keyId=${bob.id}`)).json).toEqual([
      { startsAt: '2027-03-04T00:00:00.000Z', ...counts({ '2xx': 20 }) },
    ]);
    expect((await get('totals?keyId=00000000-0000-7000-8000-000000000000')).json).toStrictEqual([]);
  });

  it('returns those of all keys of a quota as one, so a key and its successor', async () => {
    const key = await store.issue(UNLIMITED);
    const successor = (
      await send(`${store.url}/admin/keys/${key.id}/rotate`, { method: 'POST', key: admin.key })
    ).json;
    await use(key, '2027-03-01T10:00:00Z', 'listPets', 2);
    await use(successor, '2027-03-01T10:00:00Z', 'createPet', 3);
    const range = 'until=2027-03-02T00:00:00Z';
    expect((await get(`totals?${range}&quotaId=${key.quotaId}`)).json).toEqual([
      { startsAt: '2027-03-01T00:00:00.000Z', ...counts({ '2xx': 5 }) },
    ]);
    const operations = (await get(`operations?${range}&quotaId=${key.quotaId}`)).json;
    expect(operations.map(({ operation }: { operation: string }) => operation)).toEqual([
      'createPet',
      'listPets',
    ]);
    expectInvalid(await get('totals?quotaId=x'), 'quotaId must be the id of a quota');
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

describe('GET /admin/usage/top', () => {
  const ofKey = (
    { id, quotaId, ...hints }: Pick<IssuedKey, 'id' | 'quotaId'> & Partial<IssuedKey>,
    keyName: string | null,
    hour: string,
    statuses: Record<string, number>,
    denied = 0,
  ) => ({
    keyId: id,
    keyName,
    prefix: hints.prefix ?? null,
    lastFour: hints.lastFour ?? null,
    quotaId,
    externalId: null,
    plan: hints.plan ?? null,
    ...counts(statuses, denied),
    lastRequestAt: `2027-03-04T${hour}:00:00.000Z`,
  });
  const annsStatuses = { '2xx': 9, '3xx': 1, '4xx': 2, '5xx': 1 };

  it('returns the keys with the most requests, most first, and one that was deleted by SQL', async () => {
    const response = await get(`top?${UNTIL}`);
    expect(response.status).toBe(200);
    expect(parseLinks(response)['next']).toBeUndefined();
    expect(response.json).toEqual([
      ofKey(bob, 'Bob', '10', { '2xx': 20 }),
      ofKey(ann, 'Ann', '10', annsStatuses, 1),
      ofKey(DELETED, null, '11', { '2xx': 2 }),
    ]);
  });

  it('returns by choice the quotas, each with the requests of all its keys, and without a key', async () => {
    const first = await store.issue({ name: 'Shop', ...UNLIMITED });
    const { json: second } = await send(`${store.url}/admin/keys/${first.id}/rotate`, {
      method: 'POST',
      key: admin.key,
    });
    await use(first, '2027-03-02T10:00:00Z', 'listPets', 6, 0, 0, 0, 1);
    await use(second, '2027-03-02T09:00:00Z', 'createPet', 5);
    await use(second, '2027-03-02T11:00:00Z', 'listPets', 1);
    await use(bob, '2027-03-02T10:00:00Z', 'listPets', 7);
    const range = 'since=2027-03-02T00:00:00Z&until=2027-03-03T00:00:00Z';
    const top = async (query = '') =>
      (await get(`top?${range}${query}`)).json.map(({ keyId, quotaId, requests }: TopUsage) => [
        keyId,
        quotaId,
        requests,
      ]);
    const apart = [
      [bob.id, bob.quotaId, 7],
      [first.id, first.quotaId, 6],
      [second.id, first.quotaId, 6],
    ];
    expect(await top()).toEqual(apart);
    expect(await top('&by=key')).toEqual(apart);
    expect(await top('&by=quota')).toEqual([
      [null, first.quotaId, 12],
      [null, bob.quotaId, 7],
    ]);
    expect((await get(`top?${range}&by=quota&limit=1`)).json).toEqual([
      {
        keyId: null,
        keyName: null,
        prefix: null,
        lastFour: null,
        quotaId: first.quotaId,
        externalId: null,
        plan: first.plan,
        ...counts({ '2xx': 12 }, 1),
        lastRequestAt: '2027-03-02T11:00:00.000Z',
      },
    ]);
    expectInvalid(await get('top?by=name'), 'by must be one of key, quota');
    await store.database.query("DELETE FROM usage WHERE starts_at < '2027-03-03T00:00:00Z'");
  });

  it('returns the keys of the range and the period', async () => {
    const { json } = await get('top?period=hour&since=2027-03-03T09:00:00Z&until=2027-03-03T10:00:00Z');
    expect(json).toMatchObject([{ keyId: ann.id, requests: 12, lastRequestAt: '2027-03-03T09:00:00.000Z' }]);
    expect((await get('top?period=minute&until=2027-03-05T00:00:00Z')).json).toStrictEqual([]);
  });
});

describe('GET /admin/usage/operations', () => {
  it('returns the requests for each operation, most first', async () => {
    const operationUsage = (
      operation: string,
      statuses: Record<string, number>,
      lastHour: string,
      denied = 0,
    ) => ({
      operation,
      deprecated: operation === 'getPet',
      ...counts(statuses, denied),
      lastRequestAt: `2027-03-${lastHour}:00:00.000Z`,
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
    const { json } = await get(`operations?${UNTIL}&since=2027-03-04T00:00:00Z&keyId=${ann.id}`);
    expect(json).toMatchObject([{ operation: 'listPets', requests: 1 }]);
  });
});

describe('the pages of GET /admin/usage/top and /admin/usage/operations', () => {
  const RANGE = 'since=2027-02-01T00:00:00Z&until=2027-02-02T00:00:00Z';
  const walk = async <Entry>(list: string, between?: () => Promise<unknown>) =>
    (
      await readPages<Entry>(
        (target) => send(`${store.url}${target}`, { key: admin.key }),
        `/admin/usage/${list}`,
        between,
      )
    ).flat();
  let keys: IssuedKey[];

  beforeAll(async () => {
    keys = [];
    for (const requests of [3, 1, 3, 3, 2]) {
      const key = await store.issue(UNLIMITED);
      keys.push(key);
      for (const operation of ['listPets', 'getPet', 'createPet']) {
        await use(key, '2027-02-01T10:00:00Z', operation, requests);
      }
      // The operation was deprecated on that day.
      await store.database.query(
        `INSERT INTO usage SELECT key_id, quota_id, period, starts_at, operation, true,
           succeeded, 0, 0, 0, 0, last_request_at
         FROM usage WHERE key_id = $1 AND operation = 'listPets'`,
        [key.id],
      );
    }
  });
  afterAll(() => store.database.query("DELETE FROM usage WHERE starts_at < '2027-02-02T00:00:00Z'"));

  /** Returns the ids of these, those with more requests first, and those with as many by id. */
  const ranked = (id: (key: IssuedKey) => string) =>
    [[0, 2, 3], [4], [1]].flatMap((group) => group.map((index) => id(keys[index] as IssuedKey)).toSorted());

  it.each([1, 2, 100])('have each key or quota once, those with as many by id (limit %d)', async (limit) => {
    const top = (by: string) => walk<TopUsage>(`top?${RANGE}&by=${by}&limit=${limit}`);
    expect((await top('key')).map(({ keyId }) => keyId)).toEqual(ranked(({ id }) => id));
    expect((await top('quota')).map(({ quotaId }) => quotaId)).toEqual(ranked(({ quotaId }) => quotaId));
  });

  it.each([1, 2, 100])(
    'have each operation once, those with as many requests by name (limit %d)',
    async (limit) => {
      const operations = await walk<OperationUsage>(`operations?${RANGE}&limit=${limit}`);
      expect(operations.map(({ operation, deprecated }) => [operation, deprecated])).toEqual([
        ['createPet', false],
        ['getPet', true],
        ['listPets', false],
        ['listPets', true],
      ]);
    },
  );

  it('return no key twice, though others get requests meanwhile', async () => {
    const last = ranked(({ id }) => id).at(-1);
    const key = keys.find(({ id }) => id === last) as IssuedKey;
    const walked = await walk<TopUsage>(`top?${RANGE}&limit=2`, () =>
      use(key, '2027-02-01T10:00:00Z', 'listPets', 100),
    );
    const ids = walked.map(({ keyId }) => keyId);
    expect(ids).toEqual(ranked(({ id }) => id).slice(0, ids.length));
    await store.database.query(
      "UPDATE usage SET succeeded = 1 WHERE key_id = $1 AND operation = 'listPets'",
      [key.id],
    );
  });

  it('have the query in their links', async () => {
    const response = await get(`top?${RANGE}&by=quota&limit=1`);
    expect(parseLinks(response)['next']).toMatch(
      /^\/admin\/usage\/top\?limit=1&period=day&since=2027-02-01T[\w.%]+&until=[\w.%-]+&by=quota&cursor=[\w-]+$/,
    );
  });

  it.each([
    ['top', 'KEY'],
    ['top', '-1|KEY'],
    ['top', '1e3|KEY'],
    ['top', '99999999999999999|KEY'],
    ['top', '3|nobody'],
    ['operations', '3|listPets'],
    ['operations', '3|listPets|maybe'],
    ['operations', '3|list\0Pets|true'],
    ['operations', ''],
  ])('are 400 for a forged cursor: %s %j', async (list, position) => {
    const cursor = encodeCursor(position.replace('KEY', ann.id));
    expectInvalid(
      await get(`${list}?cursor=${cursor}`),
      'cursor was not issued by this service: follow the Link header of the previous page',
    );
  });
});

describe.each(['totals', 'top', 'operations'])('GET /admin/usage/%s', (report) => {
  it.each(['00', '01'])('returns 400 unless since is before until: %s seconds later', async (seconds) => {
    const response = await get(`${report}?since=2027-03-05T00:00:${seconds}Z&until=2027-03-05T00:00:00Z`);
    expectInvalid(response, 'since must be before until');
  });
});
