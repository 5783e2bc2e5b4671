import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { heapBytes } from '../support/service/heap.js';

// Between two echoes nothing is waited for.
jest.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(setImmediate) }));

const WARM_UP = 1000;
const ECHOES = 10_000;
/** Less than fifty bytes an echo: a reaction to a promise takes 300. */
const NOISE_BYTES = 500_000;
/** How long they may take on a busy machine. */
const ECHOES_MAX_MS = 60_000;

describe('ApiKeyChangeListener', () => {
  let database: TestDatabase;
  let listener: ApiKeyChangeListener;

  beforeAll(async () => {
    database = await createDatabase();
    listener = new ApiKeyChangeListener({ DATABASE_URL: database.url, DIRECT_DATABASE_URL: undefined });
  });
  afterAll(async () => {
    await listener.onApplicationShutdown();
    await database.drop();
  });

  it('uses no more memory with each echo of a lasting connection', async () => {
    let echoes = 0;
    // Not a spy, which would keep every call.
    Object.defineProperty(listener, 'currentUntilMs', {
      set() {
        echoes += 1;
      },
    });
    const heapBytesAfter = async (count: number) => {
      await until(() => echoes >= count, ECHOES_MAX_MS);
      return heapBytes();
    };
    listener.onModuleInit();
    const warm = await heapBytesAfter(WARM_UP);
    expect((await heapBytesAfter(WARM_UP + ECHOES)) - warm).toBeLessThan(NOISE_BYTES);
  });
});
