import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { type CachedApiKey, ApiKeyCache } from '../../src/auth/api-key-cache.js';
import { hashApiKey } from '../../src/auth/rules/api-key.js';
import { KeyService } from '../../src/keys/key.service.js';
import { SERVICE } from '../../src/audit/audit.js';

import { DAY_MS, MINUTE_MS } from '../support/time/clock.js';
import { recordUsage } from '../support/keys/usage.js';
import { DeclaredRoutes } from '../../src/http/routes/declared-routes.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { UsageRepository } from '../../src/usage/usage.repository.js';
import { eventually } from '../support/eventually.js';
import { useApplication } from '../support/service/application.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';

import { readPages } from '../support/http/pages.js';
import { UNLIMITED } from '../support/keys/keys.js';

const NOON = new Date('2027-03-05T12:00:30.000Z');

const store = useApplication();

beforeEach(() => store.clock.travelTo(NOON));

const get = (path: string, { key }: Pick<IssuedKey, 'key'>) => send(`${store.url}${path}`, { key });

const rotate = ({ id }: IssuedKey, options = {}) => store.app.get(KeyService).rotate(id, options, SERVICE);

const totals = (startsAt: string, requests: number, statuses: Record<string, number>, denied = 0) => ({
  startsAt,
  requests,
  denied,
  statuses: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, ...statuses },
});

describe('GET /v1/key', () => {
  it('returns the key of the request with only its plan and limits, and the headers of beta', async () => {
    const { id, key, prefix, lastFour, createdAt } = await store.issue({ name: "Ann's shop" });
    const response = await get('/v1/key', { key });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('59');
    expect(response.headers.get('x-stability')).toBe('beta');
    expect(response.json).toEqual({
      id,
      name: "Ann's shop",
      role: 'client',
      scopes: null,
      allowedNetworks: null,
      state: 'active',
      prefix,
      lastFour,
      plan: 'free',
      perMinute: 60,
      perDay: 1000,
      limitsSource: 'plan',
      createdAt,
      expiresAt: null,
      successor: null,
    });
  });

  it('returns the own limits of a quota, the role and the expiry', async () => {
    const own = { plan: 'pro', perMinute: 7, perDay: 70, role: 'admin' } as const;
    const issued = await store.issue({ ...own, expiresAt: new Date('2028-01-01T00:00:00.000Z') });
    const expected = { ...own, limitsSource: 'quota', expiresAt: '2028-01-01T00:00:00.000Z' };
    expect((await get('/v1/key', issued)).json).toMatchObject(expected);
  });

  it('returns the successor of a rotated key until the overlap ends, and never the key itself', async () => {
    const old = await store.issue();
    const next = await rotate(old, { expiresAt: new Date('2028-01-01T00:00:00.000Z') });
    const { json, text } = await get('/v1/key', old);
    expect(json).toMatchObject({
      state: 'rotating',
      expiresAt: expect.stringMatching(/^2027-03-06T12:00:3\d/),
      successor: {
        prefix: next.prefix,
        lastFour: next.lastFour,
        createdAt: next.createdAt,
        expiresAt: '2028-01-01T00:00:00.000Z',
        revokedAt: null,
      },
    });
    expect(Object.keys(json.successor)).toEqual([
      'prefix',
      'lastFour',
      'createdAt',
      'expiresAt',
      'revokedAt',
    ]);
    expect(text).not.toContain(next.key);
    expect(text).not.toContain(next.id);
    expect((await get('/v1/key', next)).json).toMatchObject({
      id: next.id,
      state: 'active',
      successor: null,
    });
  });

  it('returns 503 for a key that was deleted by SQL after its authentication', async () => {
    const issued = await store.issue();
    const cache = store.app.get(ApiKeyCache);
    // A cached key counts for less than a second, which a busy machine may spend on the deletion.
    const authenticated = await cache.find(hashApiKey(issued.key));
    const find = jest.spyOn(cache, 'find').mockReturnValue(authenticated as CachedApiKey);
    await store.database.query('DELETE FROM api_keys WHERE id = $1', [issued.id]);
    const response = await get('/v1/key', issued);
    find.mockRestore();
    expectError(response, 503, 'service_unavailable');
    await eventually(async () => expectError(await get('/v1/key', issued), 401, 'invalid_api_key'));
  });
});

describe('GET /v1/usage', () => {
  let old: IssuedKey;
  let next: IssuedKey;

  /** The old key sends requests on two days, its successor and another key on the second. */
  beforeAll(async () => {
    store.clock.travelTo(new Date(NOON.getTime() - DAY_MS));
    old = await store.issue({ plan: 'enterprise', perMinute: 3, perDay: 1000 });
    await get('/v1/pets', old);
    store.clock.travelTo(NOON);
    next = await rotate(old, { overlapSeconds: DAY_MS / 1000 });
    const other = await store.issue(UNLIMITED);
    await get('/v1/pets', other);
    await get('/v1/pets', old);
    await get('/v1/pets/999', next);
    await get('/v1/pets', next);
    await get('/v1/pets', next);
    store.clock.travelTo(new Date(NOON.getTime() + MINUTE_MS));
    await get('/v1/pets', next);
    await recordUsage(store);
  });
  /** Requests of the tests themselves are in later minutes and days. */
  beforeEach(() => store.clock.travelTo(new Date(NOON.getTime() + 2 * MINUTE_MS)));

  it('returns the usage of the whole quota by day, newest first, to a key and its successor', async () => {
    for (const key of [old, next]) {
      store.clock.travelTo(new Date(store.clock.now() + MINUTE_MS));
      const response = await get('/v1/usage', key);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-stability')).toBe('beta');
      const [today, ...before] = response.json;
      expect(today).toMatchObject({ startsAt: '2027-03-05T00:00:00.000Z', denied: 1 });
      expect(before).toEqual([totals('2027-03-04T00:00:00.000Z', 1, { '2xx': 1 })]);
    }
  });

  it('returns the usage by minute, over all pages once', async () => {
    const pages = await readPages((target) => {
      store.clock.travelTo(new Date(store.clock.now() + MINUTE_MS));
      return get(target, next);
    }, '/v1/usage?period=minute&limit=1');
    expect(pages.every((page) => page.length === 1)).toBe(true);
    expect(pages.flat().slice(-3)).toEqual([
      totals('2027-03-05T12:01:00.000Z', 1, { '2xx': 1 }),
      totals('2027-03-05T12:00:00.000Z', 4, { '2xx': 2, '4xx': 2 }, 1),
      totals('2027-03-04T12:00:00.000Z', 1, { '2xx': 1 }),
    ]);
  });

  it('returns an empty array for a quota without earlier requests', async () => {
    expect((await get('/v1/usage', await store.issue())).json).toStrictEqual([]);
  });
});

describe('GET /v1/deprecations', () => {
  it('returns the deprecated operations that keys of the quota called, as their headers do', async () => {
    const old = await store.issue(UNLIMITED);
    const called = await get('/v1/pets/1', old);
    store.clock.travelTo(new Date(NOON.getTime() + DAY_MS / 2));
    const next = await rotate(old);
    await send(`${store.url}/v1/pets/1`, { key: next.key, method: 'HEAD' });
    await get('/v1/pets', next);
    await get('/v1/pets/1', await store.issue());
    await recordUsage(store);
    const response = await get('/v1/deprecations', old);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-stability')).toBe('beta');
    expect(response.json).toEqual([
      {
        operation: 'getPet',
        method: 'GET',
        path: '/v1/pets/{petId}',
        deprecatedAt: '2025-12-05T00:00:00.000Z',
        sunsetAt: '2030-12-05T00:00:00.000Z',
        successors: ['/v1/pets?id={petId}', '/v1/pets?status=available'],
        requests: 2,
        lastCalledAt: expect.stringMatching(/^2027-03-06T00:00:3\d/),
      },
    ]);
    const [{ deprecatedAt, sunsetAt, successors }] = response.json;
    for (const successor of successors) {
      const link = `<${successor.replace('{petId}', '1')}>; rel="successor-version"`;
      expect(called.headers.get('link')).toContain(link);
    }
    expect(called.headers.get('deprecation')).toBe(`@${Date.parse(deprecatedAt) / 1000}`);
    expect(Date.parse(called.headers.get('sunset') ?? '')).toBe(Date.parse(sunsetAt));
  });

  it('returns each operation once over all pages, by name', async () => {
    const { key, id, quotaId } = await store.issue(UNLIMITED);
    const routes = store.app.get(DeclaredRoutes).all;
    const declared = routes.find(({ operation }) => operation === 'getPet')!;
    const others = ['createDog', 'getDog', 'getZebra'].map((operation) => ({ ...declared, operation }));
    routes.push(...others);
    for (const operation of ['getZebra', 'getPet', 'noLongerDeclared', 'getDog', 'createDog']) {
      await store.database.query(
        `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
           succeeded, redirected, client_errors, server_errors, denied, last_request_at)
         VALUES ($1, $2, 'day', '2027-03-05', $3, true, 1, 0, 0, 0, 0, '2027-03-05')`,
        [id, quotaId, operation],
      );
    }
    for (const limit of [1, 2, 3, 100]) {
      const pages = await readPages<{ operation: string }>(
        (target) => get(target, { key }),
        `/v1/deprecations?limit=${limit}`,
      );
      expect(pages.flat().map(({ operation }) => operation)).toEqual([
        'createDog',
        'getDog',
        'getPet',
        'getZebra',
      ]);
      expect(pages).toHaveLength(Math.ceil(4 / limit));
    }
    routes.splice(-others.length);
  });

  it.each(['', 'getPet', 'getPet|false', 'get Pet|true', 'get\0Pet|true'])(
    'returns 400 for a forged cursor: %j',
    async (position) => {
      const key = await store.issue();
      const response = await get(`/v1/deprecations?cursor=${encodeCursor(position)}`, key);
      expectInvalid(
        response,
        'cursor was not issued by this service: follow the Link header of the previous page',
      );
    },
  );

  it('returns an empty array to a quota without calls, or of operations that no longer exist', async () => {
    const key = await store.issue();
    expect((await get('/v1/deprecations', key)).json).toStrictEqual([]);
    await store.database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, denied, last_request_at)
       VALUES ($1, $2, 'day', '2027-03-05', 'getDog', true, 1, 0, 0, 0, 0, '2027-03-05')`,
      [key.id, key.quotaId],
    );
    expect((await get('/v1/deprecations', key)).json).toStrictEqual([]);
  });
});

describe('GET /v1/usage and GET /v1/deprecations', () => {
  it.each([
    ['/v1/usage', 'totals'],
    ['/v1/deprecations', 'deprecatedCalls'],
  ] as const)('run no query for a denied request: %s', async (path, method) => {
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 5, perDay: 100 });
    const read = jest.spyOn(store.app.get(UsageRepository), method);
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => send(`${store.url}${path}`, { key })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(read).toHaveBeenCalledTimes(5);
    read.mockRestore();
  });
});
