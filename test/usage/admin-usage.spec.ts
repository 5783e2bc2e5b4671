import { DAY_MS } from '../support/time/clock.js';
import { recordUsage } from '../support/keys/usage.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { useApplication } from '../support/service/application.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';

import { readPages } from '../support/http/pages.js';
import { UNLIMITED } from '../support/keys/keys.js';

const NOON = new Date('2027-03-05T12:00:30.000Z');

const store = useApplication();
let admin: IssuedKey;
let ann: IssuedKey;
let bob: IssuedKey;

/** Ann and Bob send requests on three days, and their usage is recorded. */
beforeAll(async () => {
  store.clock.travelTo(NOON);
  admin = await store.issue({ role: 'admin', ...UNLIMITED });
  ann = await store.issue({ name: 'Ann', ...UNLIMITED });
  bob = await store.issue({ name: 'Bob', plan: 'enterprise', perMinute: 1, perDay: 100 });
  for (const daysAgo of [7, 1, 0]) {
    store.clock.travelTo(new Date(NOON.getTime() - daysAgo * DAY_MS));
    await send(`${store.url}/v1/pets`, { key: ann.key });
    await send(`${store.url}/v1/pets/999`, { key: ann.key });
    await send(`${store.url}/v1/pets`, { key: bob.key });
    await send(`${store.url}/v1/pets`, { key: bob.key });
  }
  await recordUsage(store);
});

const get = (path: string, key = admin.key) => send(`${store.url}${path}`, { key });

const walk = async <Entry>(path: string) => (await readPages<Entry>(get, path)).flat();

const day = (date: string) => `${date}T00:00:00.000Z`;
const entry = (key: IssuedKey, startsAt: string, operation: string, counts: Record<string, number>) => ({
  startsAt,
  keyId: key.id,
  quotaId: key.quotaId,
  externalId: null,
  operation,
  deprecated: operation === 'getPet',
  requests: counts['requests'],
  denied: counts['denied'] ?? 0,
  statuses: { '2xx': counts['2xx'] ?? 0, '3xx': 0, '4xx': counts['4xx'] ?? 0, '5xx': 0 },
  lastRequestAt: expect.stringMatching(/^2027-0\d-\d\dT12:00:\d\d\.\d{3}Z$/),
});

const annOn = (date: string) => [
  entry(ann, day(date), 'getPet', { requests: 1, '4xx': 1 }),
  entry(ann, day(date), 'listPets', { requests: 1, '2xx': 1 }),
];
const bobOn = (date: string) => [
  entry(bob, day(date), 'listPets', { requests: 2, denied: 1, '2xx': 1, '4xx': 1 }),
];

describe('GET /admin/usage', () => {
  it('returns the usage of every key, newest first, in all that is kept without a range', async () => {
    const response = await get('/admin/usage');
    expect(response.status).toBe(200);
    expect(response.json.filter(({ keyId }: { keyId: string }) => keyId !== admin.id)).toEqual(
      ['2027-03-05', '2027-03-04', '2027-02-26'].flatMap((date) => [...annOn(date), ...bobOn(date)]),
    );
  });

  it('returns the periods that started at since or later, and before until', async () => {
    const started = async (range: string) => {
      const lists = [`/admin/keys/${ann.id}/usage`, '/admin/usage'].map((list) => get(`${list}?${range}`));
      const [ofAnn, ofAll] = (await Promise.all(lists)).map(({ json }) => [
        ...new Set(json.map(({ startsAt }: { startsAt: string }) => startsAt.slice(0, 10))),
      ]);
      expect(ofAll).toEqual(ofAnn);
      return ofAnn;
    };
    expect(await started('since=2027-03-04T00:00:00Z')).toEqual(['2027-03-05', '2027-03-04']);
    expect(await started('since=2027-03-04T00:00:01Z')).toEqual(['2027-03-05']);
    expect(await started('until=2027-03-04T00:00:00Z')).toEqual(['2027-02-26']);
    expect(await started('since=2027-02-27T00:00:00Z&until=2027-03-05T00:00:00Z')).toEqual(['2027-03-04']);
  });

  it.each(['00', '01'])('returns 400 unless since is before until: %s seconds later', async (seconds) => {
    const range = `since=2027-03-05T00:00:${seconds}Z&until=2027-03-05T00:00:00Z`;
    for (const list of ['/admin/usage', `/admin/keys/${ann.id}/usage`]) {
      expectInvalid(await get(`${list}?${range}`), 'since must be before until');
    }
  });

  it.each([
    ['minute', '2027-03-05T12:00:00.000Z'],
    ['hour', '2027-03-05T12:00:00.000Z'],
    ['day', '2027-03-05T00:00:00.000Z'],
  ])('groups usage by %s', async (period, startsAt) => {
    const { json } = await get(`/admin/keys/${ann.id}/usage?since=2027-03-05T00:00:00Z&period=${period}`);
    expect(json).toMatchObject([
      { startsAt, operation: 'getPet', requests: 1 },
      { startsAt, operation: 'listPets', requests: 1 },
    ]);
  });

  it.each([1, 2, 9, 100])(
    'returns each entry once, newest first, by key and operation, over all pages of %d',
    async (limit) => {
      const entries = await walk<{ keyId: string }>(`/admin/usage?limit=${limit}`);
      const dates = ['2027-03-05', '2027-03-04', '2027-02-26'];
      expect(entries.filter(({ keyId }) => keyId !== admin.id)).toEqual(
        dates.flatMap((date) => [...annOn(date), ...bobOn(date)]),
      );
    },
  );

  it('returns an empty array for a key without requests', async () => {
    const { id } = await store.issue();
    expect((await get(`/admin/keys/${id}/usage`)).json).toStrictEqual([]);
  });
});

describe('GET /admin/usage, /admin/keys/{keyId}/usage and /admin/deprecations', () => {
  it.each([
    '2027-03-05T12:00:00.000Z|KEY|list\0Pets|false',
    '0000-01-01T00:00:00Z|KEY|listPets|false',
    '-271821-04-20T00:00:00.000Z|KEY|listPets|false',
    '2027-03-05T12:00:00.000Z|KEY|listPets|maybe',
    'getPet|KEY|more',
    'get\0Pet|KEY',
    'getPet|nobody',
    '',
  ])('return 400 for a forged cursor: %j', async (text) => {
    const cursor = encodeCursor(text.replace('KEY', ann.id));
    for (const path of ['/admin/usage', `/admin/keys/${ann.id}/usage`, '/admin/deprecations']) {
      expectError(await get(`${path}?cursor=${cursor}`), 400, 'invalid_request');
    }
  });
});

describe('GET /admin/deprecations', () => {
  it('returns the keys that called a deprecated operation, with count and last call, in order', async () => {
    store.clock.travelTo(new Date(NOON.getTime() + 3_600_000));
    await send(`${store.url}/v1/pets/1`, { key: admin.key });
    await recordUsage(store);
    const caller = (
      { id: keyId, name: keyName, prefix, lastFour, quotaId }: IssuedKey,
      requests: number,
      hour: string,
    ) => ({
      operation: 'getPet',
      keyId,
      keyName,
      prefix,
      lastFour,
      quotaId,
      externalId: null,
      requests,
      lastCalledAt: expect.stringMatching(new RegExp(`^2027-03-05T${hour}:00:3\\d\\.\\d{3}Z$`)),
    });
    const callers = [caller(admin, 1, '13'), caller(ann, 3, '12')];
    expect(await readPages(get, '/admin/deprecations')).toEqual([callers]);
    expect(await walk('/admin/deprecations?limit=1')).toEqual(callers);
  });
});

describe('usage as CSV', () => {
  const getCsv = (path: string) =>
    send(`${store.url}${path}`, { key: admin.key, headers: { Accept: 'text/csv' } });
  const COUNTS = 'requests,denied,2xx,3xx,4xx,5xx';

  it.each([
    ['/admin/usage', `startsAt,keyId,quotaId,externalId,operation,deprecated,${COUNTS},lastRequestAt`],
    [
      '/admin/keys/ANN/usage',
      `startsAt,keyId,quotaId,externalId,operation,deprecated,${COUNTS},lastRequestAt`,
    ],
    ['/admin/usage/totals', `startsAt,${COUNTS}`],
    ['/admin/usage/top', `keyId,keyName,prefix,lastFour,quotaId,externalId,plan,${COUNTS},lastRequestAt`],
    ['/admin/usage/operations', `operation,deprecated,${COUNTS},lastRequestAt`],
  ])('is the page of %s with a header line, and the same links', async (path, header) => {
    // Days that have ended, because these requests count too.
    const range = `since=${day('2027-02-01')}&until=${day('2027-03-05')}`;
    const target = `${path.replace('ANN', ann.id)}?limit=2&${range}`;
    const [csv, json] = [await getCsv(target), await get(target)];
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(json.json).toHaveLength(2);
    expect(csv.headers.get('link')).toBe(json.headers.get('link'));
    expect(csv.headers.get('vary')).toMatch(/Accept/);
    const entries = json.json.map(({ statuses, ...fields }: { statuses: object }) => ({
      ...fields,
      ...statuses,
    }));
    const lines = entries.map((row: Record<string, string | number | null>) =>
      header
        .split(',')
        .map((column) => String(row[column] ?? ''))
        .join(','),
    );
    expect(csv.text).toBe([header, ...lines, ''].join('\r\n'));
  });

  it('has no formulas', async () => {
    const named = await store.issue({ name: '=1+1', ...UNLIMITED });
    await send(`${store.url}/v1/pets`, { key: named.key });
    await recordUsage(store);
    const { text } = await getCsv(`/admin/usage/top?limit=100&since=${day('2027-02-01')}`);
    expect(text).toContain(`${named.id},'=1+1,`);
  });
});
