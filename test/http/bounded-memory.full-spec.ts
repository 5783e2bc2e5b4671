import { ApiKeyCache } from '../../src/auth/api-key-cache.js';
import { DatabaseClock } from '../../src/database/access/database-clock.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { addressBucketKey } from '../../src/rate-limit/rules/bucket-key.js';
import { TestClock } from '../support/time/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { heapBytes } from '../support/service/heap.js';
import { openPrisma } from '../support/database/queries.js';

const AT_ONCE = 1_000;
/**
 * Items beyond the bound of a structure, and the noise between two measurements of the heap: 100 bytes for
 * each of them.
 */
const FURTHER = 40_000;
const NOISE_BYTES = 4_000_000;

/**
 * Loads items, many at once, and expects the heap not to grow after the first ones, which fill every bounded
 * structure.
 */
async function expectBounded(full: number, load: (index: number) => Promise<unknown>): Promise<void> {
  let fullBytes = 0;
  for (let from = 0; from < full + FURTHER; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => load(from + offset)));
    if (from + AT_ONCE === full) {
      fullBytes = heapBytes();
    }
  }
  expect(heapBytes() - fullBytes).toBeLessThan(NOISE_BYTES);
}

describe('the heap', () => {
  let database: TestDatabase;
  let store: FallbackCounterStore;
  let shared: PostgresCounterStore;

  beforeAll(async () => {
    database = await createDatabase();
    await database.followTestTime();
    const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
    const clock = new TestClock();
    clock.travelToMinuteStart();
    shared = new PostgresCounterStore(environment, openPrisma(environment));
    store = new FallbackCounterStore(shared, environment, clock);
  });
  afterAll(async () => {
    store.onApplicationShutdown();
    await shared.onApplicationShutdown();
    await database.drop();
  });

  it('stays bounded over 95,000 addresses', async () => {
    await expectBounded(55_000, (index) =>
      store.consume({ bucketKey: addressBucketKey(`10.${index}`), perMinute: 300, perDay: null }),
    );
  });

  it('stays bounded over 140,000 keys', async () => {
    // Prisma keeps its last hundred debug messages, each with the values of a query.
    const full = 100 * AT_ONCE;
    await database.query(
      "INSERT INTO quotas (id, plan) VALUES ('00000000-0000-7000-8000-000000000000', 'free')",
    );
    await database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), '00000000-0000-7000-8000-000000000000', 'many',
         decode(lpad(to_hex(n), 64, '0'), 'hex'), 'ask_test_', '0000'
       FROM generate_series(0, $1 - 1) n`,
      [full + FURTHER],
    );
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 2 });
    const listener = new ApiKeyChangeListener({ DATABASE_URL: database.url });
    listener.onModuleInit();
    await until(() => listener.isCurrent);
    const clock = new TestClock();
    const apiKeyCache = new ApiKeyCache(prisma, listener, clock, new DatabaseClock(clock));
    await expectBounded(full, async (index) => {
      const hash = Buffer.from(index.toString(16).padStart(64, '0'), 'hex');
      expect(await apiKeyCache.find(hash)).not.toBeNull();
    });
    await listener.onApplicationShutdown();
    await prisma.onApplicationShutdown();
  });
});
