import { DAY_MS } from '../support/time/clock.js';
import { recordUsage } from '../support/keys/usage.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { useApplication } from '../support/service/application.js';
import { expectError } from '../support/http/expectations.js';
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
  operation,
  deprecated: operation === 'getPet',
  requests: counts['requests'],
  refusals: counts['refusals'] ?? 0,
  statuses: { '2xx': counts['2xx'] ?? 0, '3xx': 0, '4xx': counts['4xx'] ?? 0, '5xx': 0 },
  lastAt: expect.stringMatching(/^2027-0\d-\d\dT12:00:\d\d\.\d{3}Z$/),
});

const annOn = (date: string) => [
  entry(ann, day(date), 'getPet', { requests: 1, '4xx': 1 }),
  entry(ann, day(date), 'listPets', { requests: 1, '2xx': 1 }),
];
const bobOn = (date: string) => [
  entry(bob, day(date), 'listPets', { requests: 2, refusals: 1, '2xx': 1, '4xx': 1 }),
];

describe('GET /admin/usage', () => {
  it('returns the usage of every key in the last seven days, newest first', async () => {
    const response = await get('/admin/usage');
    expect(response.status).toBe(200);
    expect(response.json.filter(({ keyId }: { keyId: string }) => keyId !== admin.id)).toEqual([
      ...annOn('2027-03-05'),
      ...bobOn('2027-03-05'),
      ...annOn('2027-03-04'),
      ...bobOn('2027-03-04'),
    ]);
  });

  it('counts UTC days, including today', async () => {
    const started = async (days: number) => {
      const { json } = await get(`/admin/keys/${ann.id}/usage?days=${days}`);
      return [...new Set(json.map(({ startsAt }: { startsAt: string }) => startsAt.slice(0, 10)))];
    };
    expect(await started(1)).toEqual(['2027-03-05']);
    expect(await started(7)).toEqual(['2027-03-05', '2027-03-04']);
    expect(await started(8)).toEqual(['2027-03-05', '2027-03-04', '2027-02-26']);
  });

  it.each([
    ['minute', '2027-03-05T12:00:00.000Z'],
    ['hour', '2027-03-05T12:00:00.000Z'],
    ['day', '2027-03-05T00:00:00.000Z'],
  ])('groups usage by %s', async (period, startsAt) => {
    const { json } = await get(`/admin/keys/${ann.id}/usage?days=1&period=${period}`);
    expect(json).toMatchObject([
      { startsAt, operation: 'getPet', requests: 1 },
      { startsAt, operation: 'listPets', requests: 1 },
    ]);
  });

  it.each([1, 2, 9, 100])(
    'returns each entry once, newest first, by key and operation, over all pages of %d',
    async (limit) => {
      const entries = await walk<{ keyId: string }>(`/admin/usage?days=400&limit=${limit}`);
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

describe('GET /admin/usage, /admin/keys/{id}/usage and /admin/deprecations', () => {
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
      requests,
      lastAt: expect.stringMatching(new RegExp(`^2027-03-05T${hour}:00:3\\d\\.\\d{3}Z$`)),
    });
    const callers = [caller(admin, 1, '13'), caller(ann, 3, '12')];
    expect(await readPages(get, '/admin/deprecations')).toEqual([callers]);
    expect(await walk('/admin/deprecations?limit=1')).toEqual(callers);
  });
});
