import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { expectPromisesKept } from '../support/faults/fault-promises.js';
import { type Fault, suffer } from '../support/faults/faults.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { MovingAddress } from '../support/faults/moving-address.js';
import { hasRedis, type RedisServer, startRedis } from '../support/counters/redis.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const PER_DAY = 100_000_000;
const WIDE = { plan: 'enterprise', perMinute: 10_000_000, perDay: PER_DAY } as const;
/** A query of the counters times out after half a second; the rest is a margin for a busy machine. */
const LONGEST_RESPONSE_MS = 2500;
/** Requests that may be in flight when a store hangs: their outcome is unknown, so they are never reported. */
const IN_FLIGHT = 12;

(hasRedis() ? describe : describe.skip)('a service under load that counts in Redis', () => {
  const services = new ServiceProcesses();
  let database: TestDatabase;
  let first: RedisServer;
  let second: RedisServer;
  let address: MovingAddress;
  let url: string;

  beforeAll(async () => {
    database = await createDatabase();
  });
  beforeEach(async () => {
    first = await startRedis();
    second = await startRedis({ replicaof: `127.0.0.1 ${first.port}` });
    await until(async () => /master_link_status:up/.test(await second.operator.info('replication')));
    address = await MovingAddress.of(first.port);
    url = await services
      .start({
        SHUTDOWN_DELAY: '0',
        LOG_LEVEL: 'warn',
        DATABASE_URL: database.url,
        COUNTER_STORE: `redis://127.0.0.1:${address.port}`,
      })
      .ready();
  });
  afterEach(async () => {
    await services.end('SIGTERM');
    address.close();
    await Promise.all([first.stop(), second.stop()]);
  });
  afterAll(async () => {
    await database.drop();
  });

  /** Runs a fault, checks what holds for every fault of Redis, and returns how many served requests were not counted. */
  async function uncountedAfter(fault: Fault): Promise<number> {
    const { key } = await issueKey(database, WIDE);
    const course = await suffer(url, key, fault);
    await expectPromisesKept(database, course, 'ready');
    expect(course.failedResponses).toEqual([]);
    expect(course.longestMs).toBeLessThan(LONGEST_RESPONSE_MS);
    expect(course.countedLocally).toBeGreaterThan(0);
    const rateLimitStatus = await send(`${url}/v1/rate-limit`, { key });
    expect(rateLimitStatus.headers.has('x-ratelimit-degraded')).toBe(false);
    return course.load.seen.length - (PER_DAY - rateLimitStatus.json.windows[1].remaining);
  }

  it('fails no request when Redis is killed and returns without data', async () => {
    await uncountedAfter({
      happen: () => first.stop(),
      lastsMs: 2000,
      end: async () => {
        first = await startRedis({}, first.port);
      },
    });
  });

  it('fails no request when Redis hangs (SIGSTOP), and counts all but those in flight', async () => {
    const uncounted = await uncountedAfter({
      happen: async () => first.pause(),
      lastsMs: 3000,
      end: async () => first.goOn(),
    });
    expect(Math.abs(uncounted)).toBeLessThanOrEqual(IN_FLIGHT);
  });

  it('fails no request when Redis hangs and its replica takes over, and counts all but those in flight', async () => {
    const uncounted = await uncountedAfter({
      happen: async () => first.pause(),
      lastsMs: 2000,
      end: () => failOver(),
    });
    first.goOn();
    expect(Math.abs(uncounted)).toBeLessThanOrEqual(2 * IN_FLIGHT);
  });

  it('fails no request when Redis dies and its replica takes over', async () => {
    const uncounted = await uncountedAfter({
      happen: () => first.stop(),
      lastsMs: 1000,
      end: () => failOver(),
    });
    expect(Math.abs(uncounted)).toBeLessThanOrEqual(2 * IN_FLIGHT);
  });

  it('fails no request when Redis becomes the replica of its replica, which the service then uses', async () => {
    const uncounted = await uncountedAfter({
      happen: async () => {
        await second.operator.replicaof('NO', 'ONE');
        await first.operator.replicaof('127.0.0.1', second.port);
      },
      lastsMs: 1000,
      end: async () => address.leadTo(second.port),
    });
    expect(Math.abs(uncounted)).toBeLessThanOrEqual(2 * IN_FLIGHT);
  });

  async function failOver(): Promise<void> {
    await second.operator.replicaof('NO', 'ONE');
    address.leadTo(second.port);
  }
});
