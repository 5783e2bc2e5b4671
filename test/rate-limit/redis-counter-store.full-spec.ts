import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { readEnvironment } from '../../src/process/settings/environment.js';
import type { RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { Clock } from '../../src/process/clock.js';
import { UnavailableError } from '../../src/database/access/unavailable-error.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS, MINUTE_MS, TestClock } from '../support/time/clock.js';
import { redisKey } from '../support/counter-stores.js';
import { consume, descending, newBucket, NOON, remaining } from './counting.js';
import { eventually, until } from '../support/eventually.js';
import getPort from 'get-port';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import {
  describeOnMovableRedisAndValkey,
  describeOnRedis,
  type RedisProgram,
  type RedisServer,
  startMovableRedis,
  startRedis,
} from '../support/programs/redis.js';

/**
 * The time limit of a query while the server is unavailable or hangs: three deadlines of a response, on a
 * busy machine. A query without one would wait for the server.
 */
const QUICK_MS = 2250;
/** The time limit for counting again over another connection. */
const BACK_MS = 1000;

const BANS = 'animal-store:staging:bans';

let clock: TestClock;
let opened: RedisCounterStore[] = [];
let servers: RedisServer[] = [];

beforeAll(() => Logger.overrideLogger(false));
beforeEach(() => {
  clock = new TestClock();
  clock.travelTo(new Date(NOON));
});
afterEach(async () => {
  jest.restoreAllMocks();
  opened.forEach((store) => store.onApplicationShutdown());
  await Promise.all(servers.map((server) => server.stop()));
  [opened, servers] = [[], []];
});

/** Starts a Redis that ends with the test. */
async function startServer(program: RedisProgram, given: { port?: number } = {}): Promise<RedisServer> {
  const server = await startMovableRedis({}, { program, ...given });
  servers.push(server);
  return server;
}

/** Opens the counter store of one more replica. */
async function open(
  COUNTER_STORE_URL: string,
  APP_ENV = 'staging',
  quietMs?: number,
): Promise<RedisCounterStore> {
  const store = new RedisCounterStore(readEnvironment({ COUNTER_STORE_URL, APP_ENV }), quietMs);
  opened.push(store);
  await store.onModuleInit();
  return store;
}

/** Returns the reason of a rejection, which must be quick. */
async function quickRejection(pending: Promise<unknown>): Promise<unknown> {
  const start = performance.now();
  const reason = await pending.then(
    (response) => expect(response).toBe('a denial'),
    (error: unknown) => error,
  );
  expect(performance.now() - start).toBeLessThan(QUICK_MS);
  return reason;
}

describeOnMovableRedisAndValkey('RedisCounterStore', (program) => {
  it('counts on, and goes on to ban, by the hashes that earlier versions wrote', async () => {
    const server = await startServer(program);
    const store = await open(server.url);
    const windows = { minute: NOON / MINUTE_MS, minuteUsed: 3, day: Math.floor(NOON / DAY_MS), dayUsed: 40 };
    const [counted, banned] = [newBucket(5, 1000), newBucket(5, 1000)];
    await server.operator.hset(redisKey(counted.bucketKey), { ...windows, refusals: 4 });
    const ban = { refusals: 0, bannedUntil: NOON + MINUTE_MS, banLevel: 1 };
    await server.operator.hset(redisKey(banned.bucketKey), { ...windows, ...ban });
    expect(remaining(await store.consume(counted))).toEqual([1, 959]);
    expect(remaining(await store.consume(counted))).toEqual([0, 958]);
    // The fifth denial of its minute.
    expect((await store.consume(counted)).ban).toMatchObject({ started: true });
    expect((await store.consume(banned)).ban).toEqual({ untilMs: NOON + MINUTE_MS, started: false });
  });

  it('fails only the requests of a bucket that Redis rejects, and is not unavailable', async () => {
    const server = await startServer(program);
    const store = await open(server.url);
    const [bad, good] = [newBucket(60), newBucket(60)];
    await server.operator.set(redisKey(bad.bucketKey), 'of somebody else');
    const outcomes = await Promise.allSettled(
      [bad, good, bad, good].map((request) => store.consume(request)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[0]).toMatchObject({ reason: { reason: 'failed', constructor: UnavailableError } });
  });

  let server: RedisServer;

  beforeAll(async () => {
    server = await startMovableRedis({}, { program });
  });
  afterAll(() => server.stop());

  describe('the expiry of a hash', () => {
    /** When a key expires, by the clock of the test. */
    const readExpiry = async (request: RateLimitRequest) =>
      clock.now() + (await server.operator.pttl(redisKey(request.bucketKey)));
    const expectAbout = (actual: number, expected: number) => {
      expect(actual).toBeGreaterThan(expected - 5000);
      expect(actual).toBeLessThan(expected + 5000);
    };

    it.each([
      ['ten minutes after its minute for an address', null, NOON + 11 * MINUTE_MS],
      ['a day after its day for a quota', 1000, Date.UTC(2027, 2, 7)],
    ])('is %s', async (_what, perDay, expected) => {
      const request = newBucket(60, perDay);
      await (await open(server.url)).consume(request);
      expectAbout(await readExpiry(request), expected);
    });

    it('is when the ban level of a quota is back to zero, even if its ban was lifted', async () => {
      const store = await open(server.url);
      const request = newBucket(1);
      for (const [index, minutes] of [1, 5, 60, 24 * 60].entries()) {
        await consume(request, requestsBeforeBan(1) + 1, store);
        const endsMs = clock.now() + minutes * MINUTE_MS;
        expectAbout(await readExpiry(request), Math.max(endsMs + (index + 1) * DAY_MS, Date.UTC(2027, 2, 7)));
        clock.travelTo(new Date(Math.ceil(endsMs / MINUTE_MS) * MINUTE_MS));
      }
      clock.travel(-DAY_MS / 2);
      await store.liftBan(request.bucketKey);
      expect(await server.operator.pttl(redisKey(request.bucketKey))).toBeGreaterThan(4 * DAY_MS);
    });
  });

  it('sends its scripts by their hash, and in full again after the server has lost them', async () => {
    const store = await open(server.url);
    const request = newBucket(60, 1000);
    await store.consume(request);
    await server.operator.config('RESETSTAT');
    await consume(request, 10, store);
    expect(await server.operator.info('commandstats')).not.toContain('cmdstat_eval:');

    await server.operator.script('FLUSH');
    const [decisions] = await Promise.all([
      consume(request, 20, store),
      ...Array.from({ length: 50 }, () => store.consume(newBucket())),
    ]);
    expect(decisions.map(remaining)).toEqual(descending(48, 29).map((left) => [left, left + 940]));
    await server.operator.script('FLUSH');
    expect(await store.liftBan(request.bucketKey)).toBeNull();
    expect(remaining(await store.peek(request))).toEqual([29, 969]);
  });

  it('lists bans by their number, whatever other keys there are, and forgets them a day after', async () => {
    const store = await open(server.url);
    const [banned, lifted] = [newBucket(1), newBucket(1)];
    for (const request of [banned, lifted]) {
      await consume(request, requestsBeforeBan(1) + 1, store);
    }
    await store.liftBan(lifted.bucketKey);
    const others = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`other:${index}`, '8']));
    await server.operator.mset(others);
    await server.operator.config('RESETSTAT');
    const end = new Date((await store.peek(banned)).ban?.untilMs ?? 0);
    expect((await store.bans()).get(banned.bucketKey)).toEqual(end);
    expect(await store.bans()).not.toHaveProperty(lifted.bucketKey);
    expect(await server.operator.info('commandstats')).not.toMatch(/cmdstat_(scan|keys)/);
    const [, last] = await server.operator.zrevrange(BANS, 0, 0, 'WITHSCORES');
    expect(Math.abs(clock.now() + (await server.operator.pttl(BANS)) - Number(last) - DAY_MS)).toBeLessThan(
      5000,
    );
    await server.operator.del(...Object.keys(others));
  });

  it('indexes bans again when the quotas are read, and when it has connected anew', async () => {
    const store = await open(server.url);
    const request = newBucket(1);
    await consume(request, requestsBeforeBan(1) + 1, store);
    const isIndexed = async () => (await server.operator.zscore(BANS, request.bucketKey)) !== null;
    expect(await isIndexed()).toBe(true);
    await server.operator.del(BANS);
    await store.bans([request.bucketKey]);
    expect(await isIndexed()).toBe(true);
    await server.operator.del(BANS);
    await server.operator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(async () => {
      await store.consume(request);
      expect(await isIndexed()).toBe(true);
    });
  });

  it('logs once that it cannot index bans, until it can again', async () => {
    const store = await open(server.url);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const request = newBucket(1);
    const failure = expect.stringMatching(
      /^Could not index bans in Redis, so lists and events may lack some: .*WRONGTYPE/,
    );
    await server.operator.set(BANS, 'no sorted set');
    await consume(request, requestsBeforeBan(1) + 3, store);
    await store.consume(request);
    expect(warn.mock.calls).toEqual([[failure]]);
    expect(await quickRejection(store.bans())).toMatchObject({
      reason: 'failed',
      message: expect.stringContaining('WRONGTYPE'),
    });
    await server.operator.del(BANS);
    await store.consume(request);
    expect((await store.bans()).has(request.bucketKey)).toBe(true);
    await server.operator.set(BANS, 'no sorted set');
    await store.bans([request.bucketKey]);
    expect(warn.mock.calls).toEqual([[failure], [failure]]);
    await server.operator.del(BANS);
  });

  it('counts, bans, lists and lifts as a user who may run only the documented commands', async () => {
    const documented = await readFile('docs/limits.md', 'utf8');
    const [, words = ''] = /Its user needs `([^`]+)`/.exec(documented) ?? [];
    await server.operator.call('ACL', 'SETUSER', 'least', 'on', '>pw', ...words.split(' '));
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const store = await open(server.url.replace('redis://', 'redis://least:pw@'));
    const request = newBucket(1);
    await consume(request, requestsBeforeBan(1) + 1, store);
    expect([...(await store.bans()).keys()]).toContain(request.bucketKey);
    expect(await store.liftBan(request.bucketKey)).toBeInstanceOf(Date);
    await store.ping();
    expect(warn.mock.calls.flat()).toEqual([]);
  });

  it('warns at the start, and counts, if the reply to INFO is empty', async () => {
    jest.spyOn(Redis.prototype, 'info').mockImplementation(function (this: Redis, ...words: unknown[]) {
      const reply = words[0] === 'memory' ? Promise.resolve('') : this.call('INFO', ...(words as []));
      return reply as Promise<string>;
    });
    const store = await open(server.url);
    expect(store.warnings).toEqual([
      { code: 'eviction_policy_unknown', message: expect.stringContaining('could not be checked') },
    ]);
    expect((await store.consume(newBucket())).allowed).toBe(true);
  });

  it('is not shared by staging and production', async () => {
    const [staging, production] = [await open(server.url), await open(server.url, 'production')];
    const decisions = await consume(newBucket(1, null), 2, staging, production);
    expect(decisions).toMatchObject([{ allowed: true }, { allowed: true }]);
  });

  it('rejects a request with the error of Redis if its key is no counter, and serves others', async () => {
    const store = await open(server.url);
    const broken = newBucket();
    await server.operator.set(redisKey(broken.bucketKey), 'no hash');
    const [wrong, right] = await Promise.allSettled([store.consume(broken), consume(newBucket(1), 3, store)]);
    expect(wrong).toMatchObject({
      status: 'rejected',
      reason: { reason: 'failed', message: expect.stringContaining('WRONGTYPE') },
    });
    expect(right).toMatchObject({ status: 'fulfilled' });
    await server.operator.del(redisKey(broken.bucketKey));
  });
});

describeOnMovableRedisAndValkey('several addresses of Redis', (program) => {
  it('abort the start when they are not of a Cluster', async () => {
    const server = await startServer(program);
    await expect(open(`${server.url},redis://localhost:${server.port}`)).rejects.toThrow(
      'COUNTER_STORE_URL has several addresses, but the one that responded is not a Cluster node',
    );
  });
});

describeOnMovableRedisAndValkey('RedisCounterStore, while Redis is unavailable', (program) => {
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
      expect(reason).toBeInstanceOf(UnavailableError);
      expect(reason).toMatchObject({ reason: 'refused' });
      expect((reason as Error).message).toContain('ECONNREFUSED');
    }
    await startServer(program, { port });
    await eventually(async () => expect((await store.consume(request)).allowed).toBe(true));
  });

  it('fails queries within the deadline when Redis hangs, and counts again once it responds', async () => {
    const server = await startServer(program);
    const store = await open(server.url);
    await store.consume(newBucket());
    server.pause();
    const query = () => quickRejection(store.consume(newBucket()));
    expect(await Promise.all([query(), query()])).toMatchObject([{ reason: 'silent' }, { reason: 'silent' }]);
    expect(await quickRejection(store.ping())).toMatchObject({
      reason: 'silent',
      message: expect.stringMatching(/no response within 750 ms/),
    });
    server.goOn();
    await eventually(async () => expect((await store.consume(newBucket())).allowed).toBe(true));
  });

  it('is back a second after it counts locally if its connection has lost all replies', async () => {
    const server = await startServer(program);
    const proxy = await startDatabaseProxy(server.url);
    const replica = new FallbackCounterStore(await open(proxy.url), { BAN_DURATIONS: [] }, new Clock());
    const consumeOne = () => replica.consume(newBucket()).catch(() => null);
    try {
      await consumeOne();
      proxy.loseReplies();
      await until(async () => (await consumeOne())?.degraded === true);
      const start = performance.now();
      await until(async () => (await consumeOne())?.degraded === false);
      expect(performance.now() - start).toBeLessThan(BACK_MS);
    } finally {
      replica.onApplicationShutdown();
      proxy.close();
    }
  });

  it('refuses after a quiet time if its connection was dropped, and a new one is refused', async () => {
    const server = await startServer(program);
    const proxy = await startDatabaseProxy(server.url);
    try {
      const store = await open(proxy.url, 'staging', 0);
      await store.consume(newBucket());
      proxy.loseReplies();
      proxy.refuse();
      expect(await quickRejection(store.consume(newBucket()))).toMatchObject({
        reason: 'refused',
        message: expect.stringContaining('ECONNREFUSED'),
      });
    } finally {
      proxy.close();
    }
  });

  it('does not count a request whose deadline passed before a new connection was there', async () => {
    const server = await startServer(program);
    const store = await open(server.url, 'staging', 0);
    const request = newBucket(60, 1000);
    await store.consume(request);
    server.pause();
    expect(await quickRejection(store.consume(request))).toMatchObject({ reason: 'silent' });
    server.goOn();
    await eventually(async () => expect((await store.peek(request)).allowed).toBe(true));
    expect(remaining(await store.consume(request))).toEqual([58, 998]);
  });

  it.each([800, 2500])(
    'keeps the connection if only this process was blocked for %i ms, and reads the responses that arrived',
    async (heldUpMs) => {
      const server = await startServer(program);
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
    const server = await startServer(program);
    await server.operator.acl('SETUSER', 'store', 'on', '>first', '~*', '+@all');
    const store = await open(server.url.replace('redis://', 'redis://store:first@'));
    expect((await store.consume(newBucket())).allowed).toBe(true);
    await server.operator.acl('SETUSER', 'store', 'resetpass', '>second');
    await server.operator.client('KILL', 'USER', 'store');
    await eventually(async () =>
      expect(await quickRejection(store.consume(newBucket()))).toMatchObject({
        reason: 'refused',
        message: expect.stringContaining('WRONGPASS'),
      }),
    );
    await server.operator.acl('SETUSER', 'store', '>first');
    await eventually(async () => expect((await store.consume(newBucket())).allowed).toBe(true));
  });

  it('closes its connections when the service ends', async () => {
    const server = await startServer(program);
    const store = await open(server.url);
    await store.consume(newBucket());
    store.onApplicationShutdown();
    await until(async () => !String(await server.operator.client('LIST')).includes('animal-store-counters'));
    expect(await quickRejection(store.consume(newBucket()))).toBeInstanceOf(UnavailableError);
  });
});

describeOnRedis('RedisCounterStore, while connections to Redis time out', () => {
  it('counts locally from the start on', async () => {
    const server = await startRedis({ 'tcp-backlog': '1' });
    servers.push(server);
    server.pause();
    // The kernel accepts two for it, and drops the packets of the others.
    const sockets = Array.from({ length: 4 }, () =>
      net.connect(server.port, '127.0.0.1').on('error', () => {}),
    );
    const replica = new FallbackCounterStore(await open(server.url), { BAN_DURATIONS: [] }, new Clock());
    try {
      const consumeOne = () => replica.consume(newBucket()).catch(() => null);
      await until(async () => (await consumeOne())?.degraded === true, 5000);
      sockets.forEach((socket) => socket.destroy());
      server.goOn();
      await until(async () => (await consumeOne())?.degraded === false);
    } finally {
      replica.onApplicationShutdown();
      sockets.forEach((socket) => socket.destroy());
    }
  });
});
