import { ApiKeyCache } from '../../src/auth/api-key-cache.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { QueryRunner } from '../../src/database/query-runner.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { addressBucketKey, quotaBucketKey } from '../../src/rate-limit/rules/bucket-key.js';
import { TestClock } from '../support/counters/clock.js';
import { type CounterHome, counterStores } from '../support/counters/counter-stores.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { heapBytes } from '../support/service/heap.js';
import { openQueries } from '../support/database/queries.js';

const ITEMS = 120_000;
const AT_ONCE = 1_000;
const DAY_OF_REQUESTS = 20_000;
const DAY_MS = 86_400_000;
/** Time for the requests of a step, so that all of them fall into one day. */
const STEP_MARGIN_MS = 10_000;
/** The number of items after which every bounded structure is full. */
const FULL = 80_000;
/** The noise between two measurements of the heap: 100 bytes for each further item. */
const NOISE_BYTES = 4_000_000;

/** Loads 120,000 items, many at once, and returns how many bytes the heap grew after the first 80,000. */
async function growthOver(load: (index: number) => Promise<unknown>): Promise<number> {
  let full = 0;
  for (let from = 0; from < ITEMS; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => load(from + offset)));
    if (from + AT_ONCE === FULL) {
      full = heapBytes();
    }
  }
  return heapBytes() - full;
}

describe.each(counterStores)('a day of 20,000 requests, counted in %s', (_name, start) => {
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
    shared = new PostgresCounterStore(environment, clock, openQueries(environment));
    store = new FallbackCounterStore(shared, environment, clock);
  });
  afterAll(async () => {
    store.onApplicationShutdown();
    await shared.onApplicationShutdown();
    await database.drop();
  });

  it('stays bounded over 120,000 addresses', async () => {
    const growth = await growthOver((index) =>
      store.consume({ bucketKey: addressBucketKey(`10.${index}`), perMinute: 300, perDay: null }),
    );
    process.stdout.write(`120,000 addresses: the heap grew by ${Math.round(growth / 1000)} kB\n`);
    expect(growth).toBeLessThan(NOISE_BYTES);
  });

  it('stays bounded over 120,000 keys', async () => {
    await database.query(
      "INSERT INTO quotas (id, plan) VALUES ('00000000-0000-7000-8000-000000000000', 'free')",
    );
    await database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), '00000000-0000-7000-8000-000000000000', 'many', decode(lpad(to_hex(n), 64, '0'), 'hex'), 'ask_test_', '0000'
       FROM generate_series(0, $1 - 1) n`,
      [ITEMS],
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
    process.stdout.write(`120,000 keys: the heap grew by ${Math.round(growth / 1000)} kB\n`);
    expect(growth).toBeLessThan(NOISE_BYTES);
  });
});
