import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { readEnvironment } from '../../src/settings/environment.js';
import type { RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { CounterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { TestClock } from '../support/counters/clock.js';
import { newBucket, remaining } from '../support/counters/counting.js';
import { eventually, until } from '../support/eventually.js';
import getPort from 'get-port';
import { expectError } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { hasRedis, type RedisServer, startRedis } from '../support/counters/redis.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PREFIX = 'animal-store:staging';
/** The time limit of a query while the server is away or hangs: the deadline of a response, with some tolerance. */
const QUICK_MS = 1000;

const describeWithRedis = hasRedis() ? describe : describe.skip;

let clock: TestClock;
let opened: RedisCounterStore[] = [];
let servers: RedisServer[] = [];

beforeAll(() => Logger.overrideLogger(false));
beforeEach(() => {
  clock = new TestClock();
  clock.travelToMinuteStart();
});
afterEach(async () => {
  jest.restoreAllMocks();
  opened.forEach((store) => store.onApplicationShutdown());
  servers.forEach((server) => server.goOn());
  await Promise.all(servers.map((server) => server.stop()));
  [opened, servers] = [[], []];
});

/** Starts a Redis that ends with the test. */
async function startServer(...given: Parameters<typeof startRedis>): Promise<RedisServer> {
  const server = await startRedis(...given);
  servers.push(server);
  return server;
}

/** Opens the counter store of one more replica. */
async function open(COUNTER_STORE: string): Promise<RedisCounterStore> {
  const store = new RedisCounterStore(readEnvironment({ COUNTER_STORE }), clock);
  opened.push(store);
  await store.onModuleInit();
  return store;
}

const keyOf = ({ bucketKey }: RateLimitRequest) => `${PREFIX}:{${bucketKey}}`;
const consumeTimes = (store: RedisCounterStore, request: RateLimitRequest, count: number) =>
  Promise.all(Array.from({ length: count }, () => store.consume(request)));

/** Returns the reason of a rejection, which must be quick. */
async function quickRejection(pending: Promise<unknown>): Promise<unknown> {
  const start = performance.now();
  const reason = await pending.then(
    (response) => expect(response).toBe('a refusal'),
    (error: unknown) => error,
  );
  expect(performance.now() - start).toBeLessThan(QUICK_MS);
  return reason;
}

describeWithRedis('RedisCounterStore', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  describe('the expiry of a hash', () => {
    const NOON = Date.UTC(2027, 2, 5, 12);
    /** When a key expires, by the clock of the test. */
    const expiryOf = async (request: RateLimitRequest) =>
      clock.now() + (await server.operator.pttl(keyOf(request)));
    const expectAbout = (actual: number, expected: number) => {
      expect(actual).toBeGreaterThan(expected - 5000);
      expect(actual).toBeLessThan(expected + 5000);
    };

    beforeEach(() => clock.travelTo(new Date(NOON)));

    it.each([
      ['ten minutes after its minute for an address', null, NOON + 11 * MINUTE_MS],
      ['a day after its day for a quota', 1000, Date.UTC(2027, 2, 7)],
    ])('is %s', async (_what, perDay, expected) => {
      const request = newBucket(60, perDay);
      await (await open(server.url)).consume(request);
      expectAbout(await expiryOf(request), expected);
    });

    it('is when the ban level is back to zero for a quota with bans, also after its ban was lifted', async () => {
      const store = await open(server.url);
      const request = newBucket(1);
      for (const [index, minutes] of [1, 5, 60, 24 * 60].entries()) {
        await consumeTimes(store, request, 3);
        const endsMs = clock.now() + minutes * MINUTE_MS;
        expectAbout(await expiryOf(request), Math.max(endsMs + (index + 1) * DAY_MS, Date.UTC(2027, 2, 7)));
        clock.travelTo(new Date(Math.ceil(endsMs / MINUTE_MS) * MINUTE_MS));
      }
      clock.travel(-DAY_MS / 2);
      await store.liftBan(request.bucketKey);
      expect(await server.operator.pttl(keyOf(request))).toBeGreaterThan(4 * DAY_MS);
    });
  });

  it('sends its scripts by their hash, and in full again after the server has lost them', async () => {
    const store = await open(server.url);
    const request = newBucket(60, 1000);
    await store.consume(request);
    await server.operator.config('RESETSTAT');
    await consumeTimes(store, request, 10);
    expect(await server.operator.info('commandstats')).not.toContain('cmdstat_eval:');

    await server.operator.script('FLUSH');
    const [first, ...others] = await Promise.all([
      store.consume(newBucket()),
      ...Array.from({ length: 20 }, () => store.consume(request)),
      ...Array.from({ length: 50 }, () => store.consume(newBucket())),
    ]);
    expect(first?.allowed).toBe(true);
    expect(others.slice(0, 20).map(remaining)).toEqual(
      Array.from({ length: 20 }, (_, index) => [48 - index, 988 - index]),
    );
    await server.operator.script('FLUSH');
    expect(await store.liftBan(request.bucketKey)).toBeNull();
    expect(remaining(await store.peek(request))).toEqual([29, 969]);
  });

  it('lists bans among thousands of other keys, in batches, none of which delays counting for long', async () => {
    const store = await open(server.url);
    const banned = newBucket(1);
    await consumeTimes(store, banned, 3);
    await Promise.all(
      Array.from({ length: 8000 }, (_, index) => store.consume(newBucket(5, index % 2 === 0 ? null : 5))),
    );
    const client = store['client'] as unknown as Redis;
    const hget = client.hget.bind(client);
    let [waiting, most] = [0, 0];
    jest.spyOn(client, 'hget').mockImplementation(async (key, field) => {
      waiting += 1;
      most = Math.max(most, waiting);
      const value = await hget(String(key), String(field));
      waiting -= 1;
      return value;
    });
    const bans = await store.bans();
    expect(bans.get(banned.bucketKey)).toEqual(new Date((await store.peek(banned)).ban?.untilMs ?? 0));
    expect([...bans.values()].every((end) => end.getTime() > clock.now())).toBe(true);
    expect(most).toBeGreaterThan(0);
    // A batch may find some more keys than its limit.
    expect(most).toBeLessThan(1500);
  });

  it('lists bans beside keys that are not counters', async () => {
    const [store, banned, wrongType] = [await open(server.url), newBucket(1), newBucket()];
    await consumeTimes(store, banned, 3);
    await server.operator.set(keyOf(wrongType), 'no counter');
    const bans = await store.bans();
    expect(bans.has(banned.bucketKey)).toBe(true);
    expect(bans.has(wrongType.bucketKey)).toBe(false);
    await server.operator.del(keyOf(wrongType));
  });

  it('is not shared by staging and production', async () => {
    const staging = await open(server.url);
    const production = new RedisCounterStore(
      readEnvironment({ COUNTER_STORE: server.url, APP_ENV: 'production' }),
      clock,
    );
    opened.push(production);
    await production.onModuleInit();
    const request = newBucket(1, null);
    expect(await Promise.all([staging.consume(request), production.consume(request)])).toMatchObject([
      { allowed: true },
      { allowed: true },
    ]);
  });

  it('rejects a request with the error of the server when its key is not a counter, and serves the rest of the batch', async () => {
    const store = await open(server.url);
    const [broken, whole] = [newBucket(), newBucket()];
    await server.operator.set(keyOf(broken), 'no hash', 'PX', MINUTE_MS);
    const [, wrong, right] = await Promise.allSettled(
      [newBucket(), broken, whole].map((request) => store.consume(request)),
    );
    expect(wrong).toMatchObject({
      status: 'rejected',
      reason: { kind: 'failed', message: expect.stringContaining('WRONGTYPE') },
    });
    await server.operator.del(keyOf(broken));
    expect(right).toMatchObject({ status: 'fulfilled', value: { allowed: true } });
  });
});

describeWithRedis('a Redis that may evict keys', () => {
  it('aborts the start', async () => {
    const server = await startServer({ 'maxmemory-policy': 'allkeys-lfu' });
    await expect(open(server.url)).rejects.toThrow('maxmemory-policy allkeys-lfu');
  });
});

describeWithRedis('several addresses of Redis', () => {
  it('abort the start when they are not of a Cluster', async () => {
    const server = await startServer();
    await expect(open(`${server.url},redis://localhost:${server.port}`)).rejects.toThrow(
      'COUNTER_STORE has several addresses, which only a Cluster may have',
    );
  });
});

describeWithRedis('RedisCounterStore, while Redis is away', () => {
  it('does not abort the start: queries fail immediately until Redis is there', async () => {
    const port = await getPort({ host: '127.0.0.1' });
    const store = await open(`redis://127.0.0.1:${port}`);
    const request = newBucket();
    for (const query of [
      () => store.consume(request),
      () => store.peek(request),
      () => store.ping(),
      () => store.bans(),
      () => store.liftBan('x'),
    ]) {
      const reason = await quickRejection(query());
      expect(reason).toBeInstanceOf(CounterStoreError);
      expect(reason).toMatchObject({ kind: 'refused' });
      expect((reason as Error).message).toContain('ECONNREFUSED');
    }
    await startServer({}, port);
    await eventually(async () => expect((await store.consume(request)).allowed).toBe(true));
  });

  it('fails queries within the deadline when Redis hangs, and counts again once it responds', async () => {
    const server = await startServer();
    const store = await open(server.url);
    await store.consume(newBucket());
    server.pause();
    const query = () => quickRejection(store.consume(newBucket()));
    expect(await Promise.all([query(), query()])).toMatchObject([{ kind: 'silent' }, { kind: 'silent' }]);
    expect(await quickRejection(store.ping())).toMatchObject({
      kind: 'silent',
      message: expect.stringMatching(/no response within 750 ms/),
    });
    server.goOn();
    await eventually(async () => expect((await store.consume(newBucket())).allowed).toBe(true));
  });

  it('rejects each request of a batch when Redis cannot write, and counts none', async () => {
    const server = await startServer();
    const store = await open(server.url);
    const requests = [newBucket(), newBucket(), newBucket()];
    await store.consume(requests[0] as RateLimitRequest);
    await server.operator.config('SET', 'maxmemory', '1');
    const outcomes = await Promise.allSettled(requests.map((request) => store.consume(request)));
    const rejected = { reason: { kind: 'failed', message: expect.stringContaining('OOM') } };
    expect(outcomes).toMatchObject(requests.map(() => rejected));
    await server.operator.config('SET', 'maxmemory', '0');
    expect(remaining(await store.consume(requests[0] as RateLimitRequest))).toEqual([58, 998]);
  });

  it.each([800, 1200, 2500])(
    'keeps the connection when only this process was blocked for %i ms, and reads the responses that have arrived',
    async (heldUpMs) => {
      const server = await startServer();
      const warn = jest.spyOn(Logger.prototype, 'warn');
      const store = await open(server.url);
      await store.consume(newBucket());
      const response = store.consume(newBucket());
      // The batch is sent at the end of this turn.
      await nextTurn();
      const heldUpTo = performance.now() + heldUpMs;
      while (performance.now() < heldUpTo) {
        // Blocks the process.
      }
      expect((await response).allowed).toBe(true);
      expect((await store.consume(newBucket())).allowed).toBe(true);
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it('rejects queries with the reason why it cannot connect again', async () => {
    const server = await startServer();
    await server.operator.acl('SETUSER', 'store', 'on', '>first', '~*', '+@all');
    const store = await open(server.url.replace('redis://', 'redis://store:first@'));
    expect((await store.consume(newBucket())).allowed).toBe(true);
    await server.operator.acl('SETUSER', 'store', 'resetpass', '>second');
    await server.operator.client('KILL', 'USER', 'store');
    await eventually(async () =>
      expect(await quickRejection(store.consume(newBucket()))).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('WRONGPASS'),
      }),
    );
    await server.operator.acl('SETUSER', 'store', '>first');
    await eventually(async () => expect((await store.consume(newBucket())).allowed).toBe(true));
  });

  it('closes its connections when the service ends', async () => {
    const server = await startServer();
    const store = await open(server.url);
    await store.consume(newBucket());
    store.onApplicationShutdown();
    await until(async () => !String(await server.operator.client('LIST')).includes('animal-store-counters'));
    expect(await quickRejection(store.consume(newBucket()))).toBeInstanceOf(CounterStoreError);
  });
});

describeWithRedis('a running service, while Redis is away', () => {
  let server: RedisServer;
  let service: TestApplication;
  let key: IssuedKey;
  let other: IssuedKey;

  beforeEach(async () => {
    server = await startRedis();
    const { COUNTER_STORE } = readEnvironment({ COUNTER_STORE: server.url });
    service = await startApplication({ environment: { COUNTER_STORE } });
    key = await service.issue({ plan: 'enterprise', perMinute: 60, perDay: 1000 });
    other = await service.issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
  });
  afterEach(async () => {
    server.goOn();
    await service.close();
    await server.stop();
  });

  const call = ({ key: its } = key) => send(`${service.url}/v1/pets`, { key: its });
  const isDegraded = ({ headers }: HttpResponse) => headers.get('x-ratelimit-degraded') === 'true';
  const left = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));
  /** Waits until Redis counts again; uses another key, so that the counts of the first stay the same. */
  const recovered = () => until(async () => !isDegraded(await call(other)));

  it('counts locally while Redis is down, and in Redis again when it is back', async () => {
    const { port } = server;
    for (const remains of [59, 58, 57, 56, 55]) {
      const response = await call();
      expect([response.status, isDegraded(response), left(response)]).toEqual([200, false, remains]);
    }
    await server.stop();
    await until(async () => isDegraded(await call(other)));
    const responses: HttpResponse[] = [];
    for (let sent = 0; sent < 57; sent += 1) {
      responses.push(await call());
    }
    expect(responses.every(isDegraded)).toBe(true);
    expect(responses.map(({ status }) => status)).toEqual([...Array(55).fill(200), 429, 429]);
    expect(responses.slice(0, 55).map(left)).toEqual(Array.from({ length: 55 }, (_, index) => 54 - index));
    const admin = await service.issue({ role: 'admin', plan: 'business' });
    const listed = await send(`${service.url}/admin/keys?banned=true`, { key: admin.key });
    expectError(listed, 503, 'service_unavailable');
    expect(listed.text).not.toMatch(/redis|ECONN|127\.0\.0\.1/i);

    server = await startRedis({}, port);
    await recovered();
    // It has lost what it had counted before.
    const next = await call();
    expect([next.status, isDegraded(next), left(next)]).toEqual([200, false, 59]);
  });

  it('returns 503 to a key whose Redis key is not a counter, and counts others, until that is deleted', async () => {
    const redisKey = `${PREFIX}:{quota:${key.quotaId}}`;
    await server.operator.set(redisKey, 'no hash');
    for (let round = 0; round < 5; round += 1) {
      const [broken, whole] = await Promise.all([call(), call(other)]);
      expectError(broken, 503, 'service_unavailable');
      expect([whole.status, isDegraded(whole)]).toEqual([200, false]);
    }
    await server.operator.del(redisKey);
    expect((await call()).status).toBe(200);
  });
});
