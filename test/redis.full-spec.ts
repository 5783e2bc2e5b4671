import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { readEnvironment } from '../src/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import { FallbackCounterStore } from '../src/rate-limit/stores/fallback-counter-store.js';
import { RedisCounterStore } from '../src/rate-limit/stores/redis-counter-store.js';
import { TestClock } from './support/clock.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { eventually, until } from './support/eventually.js';
import { freePort } from './support/free-port.js';
import { send } from './support/http.js';
import { hasRedis, type RedisServer, startRedis, startRedisCluster } from './support/redis.js';
import { run, ServiceProcess } from './support/service-process.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** More than it takes until a key is banned: with so much of a minute left, it happens within that minute. */
const BURST_MS = 15_000;

const describeWithRedis = hasRedis() ? describe : describe.skip;
const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);

beforeAll(() => Logger.overrideLogger(false));

describeWithRedis('a Cluster of three masters', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  let clock: TestClock;
  let stores: RedisCounterStore[] = [];

  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());
  beforeEach(() => {
    clock = new TestClock();
    clock.travelToMinuteStart();
  });
  afterEach(async () => {
    stores.forEach((store) => store.onApplicationShutdown());
    stores = [];
    await Promise.all(cluster.masters.map(({ operator }) => operator.flushall()));
  });

  async function open(COUNTER_STORE: string): Promise<RedisCounterStore> {
    const store = new RedisCounterStore(readEnvironment({ COUNTER_STORE }), clock);
    stores.push(store);
    await store.onModuleInit();
    return store;
  }

  const one = () => (cluster.masters[0] as RedisServer).url;
  const all = () => cluster.masters.map(({ url }) => url).join(',');
  const quotas = (count: number, perMinute: number): RateLimitRequest[] =>
    Array.from({ length: count }, (_, index) => ({ bucketKey: `quota:${index}`, perMinute, perDay: 1000 }));
  const keysOnEach = () => Promise.all(cluster.masters.map(({ operator }) => operator.dbsize()));

  it('is found by one of its addresses, or by several, and counts exactly for two replicas', async () => {
    const replicas = [await open(one()), await open(all())];
    const asks = quotas(30, 20);
    const decisions = await Promise.all(
      Array.from({ length: 30 }, (_, round) =>
        asks.map((ask) => (replicas[round % 2] as RedisCounterStore).consume(ask)),
      ).flat(),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30 * 20);
    const sizes = await keysOnEach();
    expect(sizes.reduce((sum, size) => sum + size)).toBe(30);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('keeps bans, lists those of all masters, and lifts them', async () => {
    const store = await open(all());
    const asks = quotas(30, 2);
    const starters = await Promise.all(
      asks.flatMap((ask) => Array.from({ length: 5 }, () => store.consume(ask))),
    );
    expect(starters.filter(({ ban }) => ban?.started)).toHaveLength(30);
    const other = await open(one());
    const bans = await other.bans();
    expect([...bans.keys()].toSorted()).toEqual(asks.map(({ bucketKey }) => bucketKey).toSorted());
    for (const { bucketKey } of asks.slice(0, 20)) {
      expect(await other.liftBan(bucketKey)).toEqual(bans.get(bucketKey));
    }
    expect((await store.bans()).size).toBe(10);
    expect((await store.peek(asks[0] as RateLimitRequest)).ban).toBeNull();
    await store.reconcile(asks.map((ask) => ({ ...ask, minute: 0, minuteUsed: 1, day: 0, dayUsed: 1 })));
  });

  it('sends its scripts again to a master that has forgotten them', async () => {
    const store = await open(all());
    const asks = quotas(30, 20);
    await Promise.all(asks.map((ask) => store.consume(ask)));
    await Promise.all(cluster.masters.map(({ operator }) => operator.script('FLUSH')));
    const decisions = await Promise.all(asks.flatMap((ask) => [store.consume(ask), store.consume(ask)]));
    expect(decisions.map(remaining)).toEqual(
      asks.flatMap(() => [
        [18, 998],
        [17, 997],
      ]),
    );
  });

  it('is followed where a slot has moved to another master', async () => {
    const store = await open(all());
    const ask = { bucketKey: 'quota:moved', perMinute: 20, perDay: 1000 };
    await store.consume(ask);
    const key = `animal-store:staging:{${ask.bucketKey}}`;
    const probe = cluster.masters[0] as RedisServer;
    const slot = Number(await probe.operator.call('CLUSTER', 'KEYSLOT', key));
    const sizes = await keysOnEach();
    const from = cluster.masters[sizes.indexOf(1)] as RedisServer;
    const to = cluster.masters[sizes.indexOf(0)] as RedisServer;
    const [fromId, toId] = await Promise.all(
      [from, to].map(async ({ operator }) => String(await operator.call('CLUSTER', 'MYID'))),
    );
    await to.operator.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId as string);
    await from.operator.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId as string);
    expect(remaining(await store.consume(ask))).toEqual([18, 998]);
    await from.operator.migrate('127.0.0.1', to.port, key, 0, 1000);
    expect(remaining(await store.consume(ask))).toEqual([17, 997]);
    for (const { operator } of [to, from]) {
      await operator.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId as string);
    }
    expect(remaining(await store.consume(ask))).toEqual([16, 996]);
  });

  it('of which one master is away goes on counting on the others, and on it again once it is back', async () => {
    const store = await open(all());
    const asks = quotas(30, 1000);
    await Promise.all(asks.map((ask) => store.consume(ask)));
    const [first, , third] = cluster.masters as [RedisServer, RedisServer, RedisServer];
    const onFirst = await first.operator.keys('*');
    const healthy = asks.find(({ bucketKey }) =>
      onFirst.includes(`animal-store:staging:{${bucketKey}}`),
    ) as RateLimitRequest;
    // What the others still serve without it, as in the seconds until they agree that it is away.
    await Promise.all(
      cluster.masters.map(({ operator }) => operator.config('SET', 'cluster-require-full-coverage', 'no')),
    );
    third.pause();
    try {
      // The one that goes alone is answered, and so the others go together; behind a failure they would be withdrawn.
      const outcomes = await Promise.allSettled([healthy, ...asks].map((ask) => store.consume(ask)));
      const answered = outcomes.filter(({ status }) => status === 'fulfilled');
      expect(answered.length).toBeGreaterThan(5);
      expect(answered.length).toBeLessThan(30);
    } finally {
      third.goOn();
    }
    await eventually(async () => {
      expect(await Promise.all(asks.map((ask) => store.consume(ask)))).toHaveLength(30);
    }, 10_000);
  });

  describe('of which one master hangs', () => {
    /** Requests that it was asked for before its connection was given up: a question or two of some of the quotas. */
    const MAY_BE_COUNTED = 60;

    /** All that a replica allowed, and the store has not counted when it is whole again. */
    async function lost(
      asks: RateLimitRequest[],
      whileAway: (ask: () => Promise<RateLimitDecision[]>) => Promise<void>,
    ) {
      const store = await open(all());
      const replica = new FallbackCounterStore(store, { BAN_DURATIONS: [] }, clock);
      let allowed = 0;
      const ask = async () => {
        const decisions = await Promise.all(asks.map((each) => replica.consume(each)));
        allowed += decisions.filter((decision) => decision.allowed).length;
        return decisions;
      };
      const third = cluster.masters[2] as RedisServer;
      try {
        await ask();
        third.pause();
        await whileAway(ask);
        third.goOn();
        await until(async () => (await ask()).every(({ degraded }) => !degraded));
        const looks = await Promise.all(asks.map((each) => store.peek(each)));
        const counted = looks.map((look, index) => (asks[index]?.perDay ?? 0) - (remaining(look)[1] ?? 0));
        return allowed - counted.reduce((sum, count) => sum + count);
      } finally {
        third.goOn();
        replica.onApplicationShutdown();
      }
    }

    it('is told all that was allowed meanwhile but what may have been counted', async () => {
      const asks = quotas(30, 100_000).map((ask) => ({ ...ask, perDay: 1_000_000 }));
      const start = performance.now();
      const missing = await lost(asks, async (ask) => {
        while (performance.now() - start < 6000) {
          await ask();
          await pause(100);
        }
      });
      expect(Math.abs(missing)).toBeLessThanOrEqual(MAY_BE_COUNTED);
    });

    it('keeps nobody waiting once that is known, and adds what was not asked while others are counted', async () => {
      const asks = quotas(30, 100_000).map((ask) => ({ ...ask, perDay: 1_000_000 }));
      let slowest = 0;
      const missing = await lost(asks, async (ask) => {
        await until(async () => {
          const start = performance.now();
          await ask();
          return performance.now() - start < 100;
        });
        for (let round = 0; round < 20; round += 1) {
          const start = performance.now();
          await ask();
          slowest = Math.max(slowest, performance.now() - start);
          await pause(100);
        }
      });
      expect(slowest).toBeLessThan(400);
      expect(Math.abs(missing)).toBeLessThanOrEqual(MAY_BE_COUNTED);
    });
  });

  it('of which one master is full adds to the others, and tells what was not added', async () => {
    const store = await open(all());
    const asks = quotas(30, 1000);
    await Promise.all(asks.map((ask) => store.consume(ask)));
    const [full] = cluster.masters as [RedisServer];
    const onFull = await full.operator.keys('*');
    const isOnFull = ({ bucketKey }: { bucketKey: string }) =>
      onFull.includes(`animal-store:staging:{${bucketKey}}`);
    const now = { minute: Math.floor(clock.now() / MINUTE_MS), day: Math.floor(clock.now() / DAY_MS) };
    const taken = asks.map((ask) => ({ ...ask, ...now, minuteUsed: 1, dayUsed: 1 }));
    await full.operator.config('SET', 'maxmemory', '1');
    try {
      const reason = await store.reconcile(taken).catch((error: unknown) => error);
      expect(reason).toMatchObject({ kind: 'failed', notReconciled: taken.filter(isOnFull) });
    } finally {
      await full.operator.config('SET', 'maxmemory', '0');
    }
    const looks = await Promise.all(asks.map((ask) => store.peek(ask)));
    expect(looks.map((look) => remaining(look)[0])).toEqual(asks.map((ask) => (isOnFull(ask) ? 999 : 998)));
  });

  it('has no database but 0', async () => {
    await expect(open(`${one()}/1`)).rejects.toThrow('a Cluster has none but 0');
  });

  it('is refused where one of its masters may forget', async () => {
    const [, second] = cluster.masters as [RedisServer, RedisServer];
    await second.operator.config('SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await expect(open(one())).rejects.toThrow(
        `127.0.0.1:${second.port} has the maxmemory-policy allkeys-lru`,
      );
    } finally {
      await second.operator.config('SET', 'maxmemory-policy', 'noeviction');
    }
  });
});

describeWithRedis('the service that counts in Redis', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const settings = (COUNTER_STORE: string, more: Record<string, string> = {}) => ({
    DATABASE_URL: database.url,
    APP_ENV: 'staging',
    HOST: '127.0.0.1',
    COUNTER_STORE,
    ...more,
  });

  it('is not started on one that may forget: one line says what to set', async () => {
    const server = await startRedis({ 'maxmemory-policy': 'allkeys-lru' });
    const reason =
      `The settings are wrong:\nCOUNTER_STORE: 127.0.0.1:${server.port} has the maxmemory-policy allkeys-lru, ` +
      'by which counts and bans are forgotten when memory is full; set maxmemory-policy to noeviction\n';
    try {
      const service = await run('main.js', settings(server.url, { LOG_LEVEL: 'silent' }));
      expect(service).toEqual({ code: 1, signal: null, stdout: '', stderr: reason });
      const terminal = await run('cli/admin.js', settings(server.url), 'keys', 'list', '--banned');
      expect(terminal).toEqual({ code: 1, signal: null, stdout: '', stderr: reason });
    } finally {
      await server.stop();
    }
  });

  it('starts while it is away and says so once, counts exactly with a second process when it is there, and stops in order', async () => {
    const port = await freePort();
    const own = settings(`redis://127.0.0.1:${port}`);
    const replicas = [new ServiceProcess('main.js', own), new ServiceProcess('main.js', own)] as const;
    const urls = await Promise.all(replicas.map((replica) => replica.listening()));
    await pause(1500);
    expect(replicas[0].stdout.match(/Redis cannot be used/g)).toHaveLength(1);
    const server = await startRedis({}, port);
    try {
      const issue = [
        'keys',
        'issue',
        '--name',
        'x',
        '--plan',
        'enterprise',
        '--per-minute',
        '60',
        '--per-day',
        '1000',
      ];
      const issued = JSON.parse((await run('cli/admin.js', own, ...issue, '--json')).stdout);
      await Promise.all(replicas.map((replica) => replica.says(/Redis is there again/)));
      // These processes have the real clock: what is left of this minute must be enough.
      const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
      if (leftMs < BURST_MS) {
        await pause(leftMs);
      }
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => send(`${urls[index % 2]}/v1/pets`, { key: issued.key })),
      );
      const codes = answers.map(({ status, json }) => json.code ?? status);
      expect(codes.filter((code) => code === 200)).toHaveLength(60);
      expect(codes.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(59);
      expect(codes.filter((code) => code === 'api_key_banned')).toHaveLength(81);

      const banned = await run('cli/admin.js', own, 'keys', 'list', '--banned', '--json');
      expect(banned.stdout).toContain(issued.id);
      const unban = await run('cli/admin.js', own, 'keys', 'unban', issued.id);
      expect({ code: unban.code, stderr: unban.stderr }).toEqual({ code: 0, stderr: '' });
      const next = await send(`${urls[0]}/v1/pets`, { key: issued.key });
      expect(next.json.code).not.toBe('api_key_banned');
      const ended = await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
      expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    } finally {
      await server.stop();
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    }
  });

  it('is administered in one line of refusal where it is away', async () => {
    const away = settings(`redis://127.0.0.1:${await freePort()}`);
    const { code, stdout, stderr } = await run('cli/admin.js', away, 'keys', 'list', '--banned');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Redis cannot be used: connect ECONNREFUSED \S+ \(check COUNTER_STORE\)\n$/);
  });
});
