import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { promisify } from 'node:util';
import { ApiKeyCache } from '../../src/auth/api-key-cache.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { QueryRunner } from '../../src/database/query-runner.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { addressBucketKey, quotaBucketKey } from '../../src/rate-limit/rules/bucket-key.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { TestClock } from '../support/counters/clock.js';
import { type CounterHome, counterStores } from '../support/counters/counter-stores.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { heapBytes } from '../support/service/heap.js';
import { send } from '../support/http/http.js';

const MILLION = 1_000_000;
const AT_ONCE = 1_000;
const DAY_OF_REQUESTS = 100_000;
const DAY_MS = 86_400_000;
/** Time for the requests of a step, so that all of them fall into one day. */
const STEP_MARGIN_MS = 10_000;
/** The number of items after which every bounded structure is full. */
const FULL = 200_000;
/** The noise between two measurements of the heap: five bytes for each further item. */
const NOISE_BYTES = 4_000_000;

/** Loads a million items, many at once, and returns how many bytes the heap grew after the first 200,000. */
async function growthOver(load: (index: number) => Promise<unknown>): Promise<number> {
  let full = 0;
  for (let from = 0; from < MILLION; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => load(from + offset)));
    if (from + AT_ONCE === FULL) {
      full = heapBytes();
    }
  }
  return heapBytes() - full;
}

describe.each(counterStores)('a day of 100,000 requests, counted in %s', (_name, start) => {
  let home: CounterHome;
  beforeAll(async () => {
    home = await start();
  });
  afterAll(async () => {
    await home.clear();
    await home.stop();
  });

  it('leaves one row, or one hash, for its quota', async () => {
    const clock = new TestClock();
    clock.travelTo(new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS));
    const store = await home.open(clock);
    const request = { bucketKey: quotaBucketKey('one'), perMinute: 1_000_000, perDay: 1_000_000 };
    for (let sent = 0; sent < DAY_OF_REQUESTS; sent += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => store.consume(request)));
      clock.travel((DAY_MS * AT_ONCE) / DAY_OF_REQUESTS - STEP_MARGIN_MS);
    }
    expect(await home.bucketKeys()).toEqual([request.bucketKey]);
    expect(await home.counterOf(request.bucketKey)).toMatchObject({ dayUsed: DAY_OF_REQUESTS });
  });
});

describe('the heap', () => {
  let database: TestDatabase;
  let store: FallbackCounterStore;
  let shared: PostgresCounterStore;

  beforeAll(async () => {
    database = await createDatabase();
    const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
    const clock = new TestClock();
    clock.travelToMinuteStart();
    shared = new PostgresCounterStore(environment, clock);
    store = new FallbackCounterStore(shared, environment, clock);
  });
  afterAll(async () => {
    store.onApplicationShutdown();
    await shared.onApplicationShutdown();
    await database.drop();
  });

  it('stays bounded over a million addresses', async () => {
    const growth = await growthOver((index) =>
      store.consume({ bucketKey: addressBucketKey(`10.${index}`), perMinute: 300, perDay: null }),
    );
    process.stdout.write(`A million addresses: the heap grew by ${Math.round(growth / 1000)} kB\n`);
    expect(growth).toBeLessThan(NOISE_BYTES);
  });

  it('stays bounded over a million keys', async () => {
    await database.query(
      "INSERT INTO quotas (id, plan) VALUES ('00000000-0000-7000-8000-000000000000', 'free')",
    );
    await database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), '00000000-0000-7000-8000-000000000000', 'many', decode(lpad(to_hex(n), 64, '0'), 'hex'), 'ask_test_', '0000'
       FROM generate_series(0, $1 - 1) n`,
      [MILLION],
    );
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 2 });
    const queryRunner = new QueryRunner(prisma);
    const listener = new ApiKeyChangeListener({ DATABASE_URL: database.url });
    listener.onModuleInit();
    await until(() => listener.isCurrent);
    const apiKeyCache = new ApiKeyCache(queryRunner, listener);
    const growth = await growthOver(async (index) => {
      const hash = Buffer.from(index.toString(16).padStart(64, '0'), 'hex');
      expect(await apiKeyCache.find(hash)).not.toBeNull();
    });
    await listener.onApplicationShutdown();
    await prisma.onApplicationShutdown();
    process.stdout.write(`A million keys: the heap grew by ${Math.round(growth / 1000)} kB\n`);
    expect(growth).toBeLessThan(NOISE_BYTES);
  });
});

describe('clients that send many requests on one connection', () => {
  let store: TestApplication;
  beforeAll(async () => {
    store = await startApplication();
  });
  afterAll(() => store.close());

  it('leave no memory in use when they disconnect before the responses', async () => {
    const { hostname, port } = new URL(store.url);
    const requests = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(300);
    const sendAndDisconnect = async () => {
      const socket = connect(Number(port), hostname);
      socket.write(requests, () => socket.resetAndDestroy());
      await once(socket, 'close');
    };
    const growthBy = async (clients: number) => {
      const before = heapBytes();
      for (let gone = 0; gone < clients; gone += 1) {
        await sendAndDisconnect();
      }
      // Waits until the server has noticed.
      await send(`${store.url}/livez`);
      return heapBytes() - before;
    };
    await growthBy(50);
    expect(await growthBy(50)).toBeLessThan(NOISE_BYTES);
  });

  it('are disconnected when they read no response, before they fill the memory, while others are served', async () => {
    const { hostname, port } = new URL(store.url);
    const before = heapBytes();
    const requests =
      'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20) +
      'GET /livez HTTP/1.1\r\nHost:\r\n\r\n'.repeat(5000);
    const greedy = Array.from({ length: 50 }, () => connect(Number(port), hostname).pause());
    const server: Server = store.app.getHttpServer();
    const count = promisify(server.getConnections.bind(server));
    await until(async () => (await count()) >= greedy.length);
    greedy.forEach((socket) => socket.on('error', () => {}).write(requests));
    await until(async () => (await count()) < greedy.length / 2);
    expect((await send(`${store.url}/livez`)).status).toBe(200);
    expect(heapBytes() - before).toBeLessThan(100_000_000);
    greedy.forEach((socket) => socket.destroy());
  });
});
