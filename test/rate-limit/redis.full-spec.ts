import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { readEnvironment } from '../../src/process/settings/environment.js';
import type { RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import { Clock } from '../../src/process/clock.js';
import { denialsBeforeBan, requestsBeforeBan } from '../support/keys/bans.js';
import { untilMinuteLasts } from '../support/time/clock.js';
import { consume } from './counting.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually, until } from '../support/eventually.js';
import getPort from 'get-port';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import {
  describeOnRedis,
  describeOnRedisAndValkey,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../support/programs/redis.js';
import { run, ServiceProcess } from '../support/service/service-process.js';

/** More than it takes to ban a key. */
const BURST_MS = 5_000;

beforeAll(() => Logger.overrideLogger(false));

describeOnRedisAndValkey('a Cluster of three masters', (program) => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  let stores: RedisCounterStore[] = [];

  beforeAll(async () => {
    cluster = await startRedisCluster(program);
  });
  afterAll(() => cluster.stop());
  beforeEach(() => untilMinuteLasts(10_000));
  afterEach(async () => {
    stores.forEach((store) => store.onApplicationShutdown());
    stores = [];
    await Promise.all(cluster.masters.map(({ operator }) => operator.flushall()));
  });

  async function open(COUNTER_STORE_URL: string): Promise<RedisCounterStore> {
    const store = new RedisCounterStore(readEnvironment({ COUNTER_STORE_URL }));
    stores.push(store);
    await store.onModuleInit();
    return store;
  }

  const one = () => (cluster.masters[0] as RedisServer).url;
  const all = () => cluster.masters.map(({ url }) => url).join(',');
  const quotas = (count: number, perMinute: number): RateLimitRequest[] =>
    Array.from({ length: count }, (_, index) => ({ bucketKey: `quota:${index}`, perMinute, perDay: 1000 }));
  const keysOnEach = () => Promise.all(cluster.masters.map(({ operator }) => operator.dbsize()));

  it('is found by one or several of its addresses, and counts exactly for two replicas', async () => {
    const replicas = [await open(one()), await open(all())];
    const requests = quotas(30, 20);
    const decisions = await Promise.all(requests.map((request) => consume(request, 30, ...replicas)));
    expect(decisions.flat().filter(({ allowed }) => allowed)).toHaveLength(30 * 20);
    const sizes = await keysOnEach();
    expect(sizes.reduce((sum, size) => sum + size)).toBe(30);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('stores bans, lists those of all masters, and lifts them', async () => {
    const store = await open(all());
    const requests = quotas(30, 2);
    await Promise.all(requests.map((request) => consume(request, requestsBeforeBan(2) + 1, store)));
    const other = await open(one());
    const bans = await other.bans();
    expect([...bans.keys()].toSorted()).toEqual(requests.map(({ bucketKey }) => bucketKey).toSorted());
    for (const { bucketKey } of requests.slice(0, 20)) {
      expect(await other.liftBan(bucketKey)).toEqual(bans.get(bucketKey));
    }
    expect((await store.bans()).size).toBe(10);
    expect((await store.peek(requests[0] as RateLimitRequest)).ban).toBeNull();
  });

  it('counts locally while one master is unavailable, and together again once it is back', async () => {
    const requests = quotas(30, 100_000).map((request) => ({ ...request, perDay: 1_000_000 }));
    const replica = new FallbackCounterStore(await open(all()), { BAN_DURATIONS: [] }, new Clock());
    const third = cluster.masters[2] as RedisServer;
    const consumeAll = () => Promise.allSettled(requests.map((each) => replica.consume(each)));
    const allCounted = (degraded: boolean) =>
      requests.map(() => ({ status: 'fulfilled', value: expect.objectContaining({ degraded }) }));
    try {
      await consumeAll();
      third.pause();
      await until(async () => {
        await consumeAll();
        return replica.outage !== null;
      });
      for (let round = 0; round < 10; round += 1) {
        const start = performance.now();
        expect(await consumeAll()).toEqual(allCounted(true));
        expect(performance.now() - start).toBeLessThan(400);
        await pause(100);
      }
      third.goOn();
      await until(() => replica.outage === null);
      await eventually(async () => expect(await consumeAll()).toEqual(allCounted(false)));
    } finally {
      third.goOn();
      replica.onApplicationShutdown();
    }
  });

  it('counts locally from the first reply on that one master cannot write, until it can', async () => {
    const requests = quotas(30, 1000);
    const store = await open(all());
    const replica = new FallbackCounterStore(store, { BAN_DURATIONS: [] }, new Clock());
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const { operator } = cluster.masters[1] as RedisServer;
    const consumeAll = () => Promise.all(requests.map((each) => replica.consume(each)));
    try {
      expect((await consumeAll()).some(({ degraded }) => degraded)).toBe(false);
      await operator.config('SET', 'maxmemory', '1');
      expect((await consumeAll()).some(({ degraded }) => degraded)).toBe(true);
      // Pings of the other masters do not end it.
      await pause(1200);
      expect((await consumeAll()).every(({ degraded }) => degraded)).toBe(true);
      await operator.config('SET', 'maxmemory', '0');
      await until(() => replica.outage === null);
      expect((await consumeAll()).some(({ degraded }) => degraded)).toBe(false);
      expect(warn.mock.calls.flat()).toEqual([
        expect.stringMatching(/^The counter store is unavailable, .*OOM/),
        'The counter store is back',
      ]);
    } finally {
      warn.mockRestore();
      replica.onApplicationShutdown();
      await operator.config('SET', 'maxmemory', '0');
    }
  });

  it('has no database except 0', async () => {
    await expect(open(`${one()}/1`)).rejects.toThrow('a Cluster has only database 0');
  });

  it('is rejected when one of its masters may evict keys', async () => {
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

describeOnRedis('a service that counts in Redis', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const settings = (COUNTER_STORE_URL: string) => ({
    DATABASE_URL: database.url,
    APP_ENV: 'staging',
    HOST: '127.0.0.1',
    COUNTER_STORE_URL,
  });

  it('refuses to start with one that may evict keys, and says in one line what to set', async () => {
    const server = await startRedis({ 'maxmemory-policy': 'allkeys-lru' });
    const reason =
      `The settings are wrong:\nCOUNTER_STORE_URL: 127.0.0.1:${server.port} has the maxmemory-policy ` +
      'allkeys-lru, ' +
      'by which counts and bans are forgotten when memory is full; set maxmemory-policy to noeviction\n';
    try {
      const service = await run('main.js', { ...settings(server.url), LOG_LEVEL: 'silent' });
      expect(service).toEqual({ code: 1, signal: null, stdout: '', stderr: reason });
      const terminal = await run('cli/admin.js', settings(server.url), 'keys', 'list', '--banned');
      expect(terminal).toEqual({ code: 1, signal: null, stdout: '', stderr: reason });
    } finally {
      await server.stop();
    }
  });

  it('starts while Redis is unavailable, logs that once, and counts exactly with another later', async () => {
    const port = await getPort({ host: '127.0.0.1' });
    const own = settings(`redis://127.0.0.1:${port}`);
    const replicas = [new ServiceProcess('main.js', own), new ServiceProcess('main.js', own)] as const;
    const urls = await Promise.all(replicas.map((replica) => replica.listening()));
    await pause(1500);
    expect(replicas[0].stdout.match(/Redis is unavailable/g)).toHaveLength(1);
    const server = await startRedis({}, { port });
    try {
      const issued = await issueKey(database, { plan: 'enterprise', perMinute: 60, perDay: 1000 });
      await Promise.all(
        urls.map((url) =>
          until(async () => (await send(`${url}/v1/pets`)).headers.get('x-ratelimit-degraded') === null),
        ),
      );
      await untilMinuteLasts(BURST_MS);
      const responses = await Promise.all(
        Array.from({ length: requestsBeforeBan(60) + 80 }, (_, index) =>
          send(`${urls[index % 2]}/v1/pets`, { key: issued.key }),
        ),
      );
      const countByCode = (code?: string) => responses.filter(({ json }) => json.code === code).length;
      const codes = [undefined, 'rate_limit_exceeded', 'api_key_banned'];
      expect(codes.map(countByCode)).toEqual([60, denialsBeforeBan(60) - 1, 81]);
      const banned = await run('cli/admin.js', own, 'keys', 'list', '--banned', '--json');
      expect(banned.stdout).toContain(issued.id);
      const unban = await run('cli/admin.js', own, 'quotas', 'unban', issued.quotaId);
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

  it('makes terminal commands fail with one line while Redis is unavailable', async () => {
    const away = settings(`redis://127.0.0.1:${await getPort({ host: '127.0.0.1' })}`);
    const { code, stdout, stderr } = await run('cli/admin.js', away, 'keys', 'list', '--banned');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^connect ECONNREFUSED \S+ \(check COUNTER_STORE_URL\)\n$/);
  });
});
