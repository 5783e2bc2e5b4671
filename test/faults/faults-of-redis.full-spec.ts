import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { expectPromisesKept } from './fault-promises.js';
import { type Fault, suffer } from './faults.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { describeOnRedis, type RedisServer, startRedis } from '../support/programs/redis.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

/**
 * A request waits for the query in flight and for its own, 750 ms each; the rest is a margin for a busy
 * machine.
 */
const LONGEST_RESPONSE_MS = 2500;

describeOnRedis('a service under load that counts in Redis', () => {
  const services = new ServiceProcesses();
  let database: TestDatabase;
  let first: RedisServer;
  let second: RedisServer;
  let address: DatabaseProxy;
  let url: string;
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    first = await startRedis();
    address = await startDatabaseProxy(first.url);
    url = await services
      .start({
        SHUTDOWN_DELAY: '0',
        LOG_LEVEL: 'warn',
        DATABASE_URL: database.url,
        COUNTER_STORE_URL: address.url,
      })
      .ready();
  });
  beforeEach(async () => {
    ({ key } = await issueKey(database, UNLIMITED));
    second = await startRedis({ replicaof: `127.0.0.1 ${first.port}` });
    await until(async () => /master_link_status:up/.test(await second.operator.info('replication')));
    address.leadTo(first.port);
    await until(async () => !(await isCountedLocally()));
  });
  /** The next test begins with the other server. */
  afterEach(async () => {
    await second.operator.replicaof('NO', 'ONE');
    await first.stop();
    first = second;
  });
  afterAll(async () => {
    await services.end('SIGTERM');
    address.close();
    await first.stop();
    await database.drop();
  });

  async function isCountedLocally(): Promise<boolean> {
    const { headers } = await send(`${url}/v1/pets`, { key });
    return headers.has('x-ratelimit-degraded');
  }

  const faults: [what: string, fault: Fault][] = [
    [
      'is killed and returns without data',
      {
        happen: () => first.stop(),
        lastsMs: 1000,
        end: async () => {
          first = await startRedis({}, { port: first.port });
        },
      },
    ],
    ['hangs (SIGSTOP)', { happen: async () => first.pause(), lastsMs: 3000, end: async () => first.goOn() }],
    ['hangs and its replica takes over', { happen: async () => first.pause(), lastsMs: 3000, end: failOver }],
    ['dies and its replica takes over', { happen: () => first.stop(), lastsMs: 1000, end: failOver }],
  ];
  it.each(faults)(
    'returns 503 only until it finds Redis unavailable, and counts locally then: it %s',
    async (_what, fault) => {
      const course = await suffer(url, key, fault);
      await expectPromisesKept(database, course, 'ready');
      expect(course.longestMs).toBeLessThan(LONGEST_RESPONSE_MS);
      expect(course.countedLocally).toBeGreaterThan(course.failedResponses.length);
      first.goOn();
    },
  );

  it('counts in the former replica once the address leads there and Redis became its replica', async () => {
    const course = await suffer(url, key, {
      happen: async () => {
        await second.operator.replicaof('NO', 'ONE');
        await first.operator.replicaof('127.0.0.1', second.port);
      },
      lastsMs: 1000,
      end: async () => address.leadTo(second.port),
    });
    await expectPromisesKept(database, course, 'ready');
    expect(await isCountedLocally()).toBe(false);
  });

  async function failOver(): Promise<void> {
    await second.operator.replicaof('NO', 'ONE');
    address.leadTo(second.port);
  }
});
