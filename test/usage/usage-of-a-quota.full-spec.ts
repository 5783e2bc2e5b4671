import { applyPendingMigrations } from '../../src/database/migrations.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { seedPlans } from '../../src/seed/plans.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/database/debian-postgres.js';
import type { TestDatabase } from '../support/database/database.js';
import { query } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const KEYS = 200;
const MINUTES = 1_000;
/** Usage in each of the last minutes, by other keys; PostgreSQL 15 would read all of it for one key in the order of time. */
const USAGE_OF_OTHERS = `
  INSERT INTO usage
  SELECT
    ('00000000-0000-4000-8000-' || lpad(key::text, 12, '0'))::uuid, gen_random_uuid(), 'minute',
    date_trunc('minute', now()) - minute * interval '1 minute', 'listPets', false, 1, 0, 0, 0, 0, now()
  FROM generate_series(1, ${KEYS}) key, generate_series(1, ${MINUTES}) minute`;

describeOnDebianPostgres('GET /v1/usage?period=minute, on an older PostgreSQL', () => {
  let server: DebianPostgres;
  let database: TestDatabase;

  beforeAll(async () => {
    server = await DebianPostgres.create();
    await server.start();
    const url = server.url();
    database = { url, query: (text) => query(url, text), drop: () => server.remove() };
    await applyPendingMigrations(url);
    const prisma = new PrismaService({ DATABASE_URL: url, DATABASE_POOL_SIZE: 2 });
    await seedPlans(prisma);
    await prisma.onApplicationShutdown();
    await database.query(USAGE_OF_OTHERS);
    await database.query('VACUUM ANALYZE usage');
  });
  afterAll(() => database.drop());

  /** Starts the service, uses it, and waits until PostgreSQL has the statistics of its connections, which it updates at their end. */
  async function withService<Result>(use: (store: TestApplication) => Promise<Result>): Promise<Result> {
    const store = await startApplication({ database });
    const result = await use(store);
    await store.close();
    const connections = "SELECT FROM pg_stat_activity WHERE application_name LIKE 'animal-store%'";
    await until(async () => (await database.query(connections)).length === 0);
    return result;
  }

  it('reads the rows of the own keys only, and none of the 200,000 of others', async () => {
    const key = await withService(async (store) => {
      const issued = await store.issue({ plan: 'pro' });
      await send(`${store.url}/v1/pets`, { key: issued.key });
      return issued.key;
    });
    const before = await rowsRead();
    const { status, json } = await withService((store) =>
      send(`${store.url}/v1/usage?period=minute`, { key }),
    );
    expect([status, json.length]).toEqual([200, 1]);
    expect((await rowsRead()) - before).toBeLessThan(100);
  });

  /** Returns how many rows of usage PostgreSQL has read so far, along an index or not. */
  async function rowsRead(): Promise<number> {
    const [row] = await database.query<{ read: number }>(
      `SELECT (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'usage'))::int AS read
       FROM pg_stat_user_tables WHERE relname = 'usage'`,
    );
    return row?.read ?? Number.NaN;
  }
});
