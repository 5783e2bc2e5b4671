import { applyPendingMigrations } from '../../src/database/migrations.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { seedPlans } from '../../src/seed/plans.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/database/debian-postgres.js';
import type { TestDatabase } from '../support/database/database.js';
import { query } from '../support/database/database.js';
import { rowsRead } from '../support/database/rows-read.js';
import { send } from '../support/http/http.js';
import { startApplication } from '../support/service/application.js';

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

  it('reads the rows of the own keys only, and none of the 200,000 of others', async () => {
    const store = await startApplication({ database });
    const { key } = await store.issue({ plan: 'pro' });
    await send(`${store.url}/v1/pets`, { key });
    await store.close();
    const before = await rowsRead(database, 'usage');
    const reader = await startApplication({ database });
    const { status, json } = await send(`${reader.url}/v1/usage?period=minute`, { key });
    await reader.close();
    expect([status, json.length]).toEqual([200, 1]);
    const after = await rowsRead(database, 'usage');
    expect(after.scanned + after.byIndex - before.scanned - before.byIndex).toBeLessThan(100);
  });
});
