import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../src/http/routes/api-error.js';
import { PetRepository } from '../../src/pets/pet.repository.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { type Allowed, ifAllowed, ServedWhileCounted } from '../../src/rate-limit/served-while-counted.js';
import { UsageRepository } from '../../src/usage/usage.repository.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { TestClock } from '../support/time/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually, until } from '../support/eventually.js';
import { expectRateLimitHeaders } from '../support/http/expectations.js';
import { hold } from '../support/database/holding.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';

const ORIGIN = 'https://shop.example';

const PLAN = { plan: 'enterprise', perMinute: 1, perDay: 100 } as const;
const METHODS = ['GET', 'HEAD'];

let database: TestDatabase;
let replica: TestApplication;
let other: TestApplication;
let pets: PetRepository;

beforeAll(async () => {
  database = await createDatabase();
  const clock = new TestClock();
  const environment = { CORS_ORIGINS: [ORIGIN], BAN_DURATIONS: [] };
  [replica, other] = [
    await startApplication({ database, environment, clock }),
    await startApplication({ database, environment, clock }),
  ];
  pets = replica.app.get(PetRepository);
  await database.query("INSERT INTO pets (name, category_id) VALUES ('Rex', 7)");
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await replica.close();
  await other.close();
  await database.drop();
});

type Init = Parameters<typeof send>[1];
const fetchPath = (path: string, init: Init, store = replica): Promise<HttpResponse> =>
  send(`${store.url}${path}`, init);

/** A key that has used up its limit, which the first replica has not seen yet. */
async function usedKey(): Promise<string> {
  const expiresAt = new Date(replica.clock.now() + 86_400_000);
  const { key } = await replica.issue({ ...PLAN, expiresAt });
  expect((await fetchPath('/v1/pets', { key }, other)).status).toBe(200);
  return key;
}

const headerNames = ({ headers }: HttpResponse) => [...headers.keys()].toSorted();

describe('a read that is denied while its data is read', () => {
  const unavailable = new ApiError('service_unavailable', 'Away.');
  const outcomes: [string, number, string, Record<string, string>, () => void][] = [
    ['200', 200, '/v1/pets', {}, () => {}],
    ['200 with links', 200, '/v1/pets?limit=1', {}, () => {}],
    ['200 of a deprecated operation', 200, '/v1/pets/1', {}, () => {}],
    ['304', 304, '/v1/pets', { 'If-None-Match': '*' }, () => {}],
    ['400', 400, '/v1/pets?limit=0', {}, () => {}],
    ['404 of an animal', 404, '/v1/pets/999', {}, () => {}],
    ['404 of a path', 404, '/v1/dogs', {}, () => {}],
    ['500', 500, '/v1/pets', {}, () => jest.spyOn(pets, 'page').mockRejectedValue(new Error('defect'))],
    ['503', 503, '/v1/pets', {}, () => jest.spyOn(pets, 'page').mockRejectedValue(unavailable)],
  ];

  describe.each([
    ['GET', /^{"code":"rate_limit_exceeded","message":".*1 requests per minute.*","status":429}$/],
    ['HEAD', /^$/],
  ] as const)('by %s', (method, body) => {
    it.each(outcomes)('returns 429 in place of %s', async (_name, status, path, given, arrange) => {
      const headers = { ...given, Origin: ORIGIN };
      const key = await usedKey();
      const { key: fresh } = await replica.issue(PLAN);
      const read = jest.spyOn(pets, 'page');
      arrange();
      expect((await fetchPath(path, { method, key: fresh, headers })).status).toBe(status);
      read.mockClear();
      const denied = await fetchPath(path, { method, key, headers });
      const reads = read.mock.calls.length;
      expect(denied.status).toBe(429);
      expectRateLimitHeaders(denied);
      expect(denied.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(denied.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
      expect(denied.text).toMatch(body);
      // From now on the request waits for its count, and its response has the same headers.
      const waited = await fetchPath(path, { method, key, headers });
      expect([waited.status, read.mock.calls.length]).toEqual([429, reads]);
      expect(headerNames(denied)).toEqual(headerNames(waited));
      expect(denied.headers.get('content-type')).toBe(waited.headers.get('content-type'));
      for (const name of ['etag', 'allow', 'location']) {
        expect(denied.headers.get(name)).toBeNull();
      }
    });
  });

  it('runs no query for a request after the first denial', async () => {
    const key = await usedKey();
    const read = jest.spyOn(replica.app.get(PrismaService).pools.queries, 'query');
    const asked = jest.spyOn(pets, 'page');
    const counted = jest.spyOn(replica.app.get(FallbackCounterStore), 'consume');
    // While reads wait for the lock, later reads queue for the next batch.
    const holder = await hold(database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const requests = Array.from({ length: 20 }, () => fetchPath('/v1/pets', { key }));
    await until(() => counted.mock.calls.length === 20);
    await holder.letGo();
    const first = await Promise.all(requests);
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([429]));
    // A denied request is answered without its read, whose batch may still be waiting.
    await Promise.all(asked.mock.results.map(({ value }) => value));
    const pages = () =>
      read.mock.calls.filter(([query]) => (query as { text: string }).text.includes('"pets"')).length;
    const batches = pages();
    expect(batches).toBeLessThanOrEqual(3);
    await Promise.all(Array.from({ length: 20 }, () => fetchPath('/v1/pets', { key })));
    expect(pages()).toBe(batches);
  });
});

describe('a read of administration that is denied', () => {
  it('never starts, because it shares its query with no other request', async () => {
    const { key } = await replica.issue({ ...PLAN, role: 'admin' });
    expect((await fetchPath('/admin/usage', { key }, other)).status).toBe(200);
    const page = jest.spyOn(replica.app.get(UsageRepository), 'page');
    expect((await fetchPath('/admin/usage', { key })).status).toBe(429);
    expect(page).not.toHaveBeenCalled();
  });
});

describe('a handler of a read that is served while it is counted', () => {
  it('compiles only if it waits for the decision', () => {
    class Handlers {
      // @ts-expect-error -- it forgets to wait.
      @ServedWhileCounted()
      forgetful(): Promise<string> {
        return Promise.resolve('[]');
      }

      @ServedWhileCounted()
      waiting(request: FastifyRequest): Promise<Allowed<string>> {
        return ifAllowed(request, Promise.resolve('[]'), (body) => body);
      }
    }
    expect(Handlers).toBeDefined();
  });
});

describe('a read and its count', () => {
  it('run concurrently, and the response waits for both', async () => {
    const { key } = await replica.issue({ plan: 'pro' });
    const holder = await hold(database.url, 'LOCK TABLE rate_limit_counters IN ACCESS EXCLUSIVE MODE');
    const read = jest.spyOn(pets, 'page');
    const response = fetchPath('/v1/pets', { key });
    await eventually(() => expectLocksWaitedFor(database, 1));
    expect(read).toHaveBeenCalledTimes(1);
    await expect(read.mock.results[0]?.value).resolves.toMatchObject({ last: null });
    await holder.letGo();
    const { status, headers } = await response;
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, '299']);
  });

  it.each(METHODS)('both finish when the read fails: %s', async (method) => {
    const { key } = await replica.issue({ plan: 'pro' });
    const read = jest.spyOn(pets, 'page').mockRejectedValue(new Error('defect'));
    const failed = await fetchPath('/v1/pets', { method, key });
    expect([failed.status, failed.headers.get('x-ratelimit-remaining')]).toEqual([500, '299']);
    read.mockRestore();
    expect((await fetchPath('/v1/pets', { key }, other)).headers.get('x-ratelimit-remaining')).toBe('298');
  });

  it.each(METHODS)('return 500 when counting has a defect: %s', async (method) => {
    const { key } = await replica.issue({ plan: 'pro' });
    jest.spyOn(replica.app.get(FallbackCounterStore), 'consume').mockRejectedValue(new Error('defect'));
    const response = await fetchPath('/v1/pets', { method, key });
    expect(response.status).toBe(500);
    expectRateLimitHeaders(response);
    expect(response.headers.get('etag')).toBeNull();
  });

  it('run one after the other for a request that writes', async () => {
    const { key } = await replica.issue({ plan: 'pro' });
    const holder = await hold(database.url, 'LOCK TABLE rate_limit_counters IN ACCESS EXCLUSIVE MODE');
    const write = jest.spyOn(pets, 'create');
    const response = fetchPath('/v1/pets', { method: 'POST', key, body: { name: 'Rex', categoryId: 7 } });
    await eventually(() => expectLocksWaitedFor(database, 1));
    expect(write).not.toHaveBeenCalled();
    await holder.letGo();
    expect((await response).status).toBe(201);
  });

  it('run one after the other for a request without a key', async () => {
    const read = jest.spyOn(pets, 'page');
    expect((await fetchPath('/v1/pets', {})).status).toBe(401);
    expect(read).not.toHaveBeenCalled();
  });
});
