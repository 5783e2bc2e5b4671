import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { seedPlans } from '../../src/start/plans.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { DAY_MS } from '../support/time/clock.js';
import { sqlOfTestTime } from '../support/time/test-time.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import type { TestDatabase } from '../support/database/database.js';
import { query } from '../support/database/database.js';
import { rowsRead } from '../support/database/rows-read.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { startApplication } from '../support/service/application.js';

const KEYS = 200;
const MINUTES = 1_000;
/**
 * Usage in each of the last minutes, by other keys; PostgreSQL 15 would read all of it for one key in the
 * order of time.
 */
const USAGE_OF_OTHERS = `
  INSERT INTO usage
  SELECT
    ('00000000-0000-4000-8000-' || lpad(key::text, 12, '0'))::uuid, gen_random_uuid(), 'minute',
    date_trunc('minute', now()) - minute * interval '1 minute', 'listPets', false, 1, 0, 0, 0, 0, now()
  FROM generate_series(1, ${KEYS}) key, generate_series(1, ${MINUTES}) minute`;
/** Usage of one key, for two operations in each minute of 30 days. */
const MONTH_OF_MINUTES = 30 * 1440;
const USAGE_OF_A_MONTH = `
  INSERT INTO usage
  SELECT id, quota_id, 'minute', date_trunc('minute', now()) - minute * interval '1 minute', operation,
    false, 5, 0, 0, 0, 0, now()
  FROM api_keys, generate_series(1, ${MONTH_OF_MINUTES}) minute,
    unnest(ARRAY['listPets', 'createPet']) operation
  WHERE name = 'busy'`;

describeOnDebianPostgres('usage of a quota by the minute, on an older PostgreSQL', () => {
  let server: DebianPostgres;
  let database: TestDatabase;
  let admin: IssuedKey;

  beforeAll(async () => {
    server = await DebianPostgres.create();
    await server.start();
    const url = server.url();
    database = {
      url,
      query: (text) => query(url, text),
      followTestTime: () => query(url, sqlOfTestTime()),
      drop: () => server.remove(),
    };
    await applyPendingMigrations(url);
    const prisma = new PrismaService({ DATABASE_URL: url, DATABASE_POOL_SIZE: 2 });
    await seedPlans(prisma);
    await prisma.onApplicationShutdown();
    admin = await issueKey(database, { role: 'admin', plan: 'business' });
    await database.query(USAGE_OF_OTHERS);
    await database.query('VACUUM ANALYZE usage');
  });
  afterAll(() => database.drop());

  /** Returns the response to a request, and the rows of usage that a new replica reads for it. */
  async function read(path: string, key: string, daysKept = 30) {
    const before = await rowsRead(database, 'usage');
    const reader = await startApplication({
      database,
      environment: { USAGE_MINUTE_RETENTION: daysKept * DAY_MS },
    });
    const { status, json } = await send(reader.url + path, { key });
    await reader.close();
    const after = await rowsRead(database, 'usage');
    return { status, json, rows: after.scanned + after.byIndex - before.scanned - before.byIndex };
  }

  it('reads the rows of the own keys only, and none of the 200,000 of others', async () => {
    const store = await startApplication({ database });
    const { key, quotaId } = await store.issue({ plan: 'pro' });
    await send(`${store.url}/v1/pets`, { key });
    await store.close();
    for (const by of ['', '&by=operation', '&by=key']) {
      const page = await read(`/v1/usage?period=minute&limit=1${by}`, key);
      expect([page.status, page.json.length]).toEqual([200, 1]);
      expect(page.rows).toBeLessThan(100);
    }
    const whatIf = await read(`/admin/quotas/${quotaId}/what-if?plan=free`, admin.key);
    expect([whatIf.status, whatIf.json.requests >= 1]).toEqual([200, true]);
    expect(whatIf.rows).toBeLessThan(100);
  });

  describe('of a key that was busy for 30 days', () => {
    let busy: IssuedKey;

    beforeAll(async () => {
      busy = await issueKey(database, { name: 'busy', plan: 'business' });
      await database.query(USAGE_OF_A_MONTH);
      await database.query('VACUUM ANALYZE usage');
    });

    it.each(['', '&by=operation', '&by=key'])(
      'reads a page of minutes, and not the others of the month (%s)',
      async (by) => {
        const position = { '': '', '&by=operation': '|createPet|false', '&by=key': `|${busy.id}` }[by];
        const fortnightAgo = new Date(Date.now() - 14 * DAY_MS).toISOString();
        for (const cursor of ['', `&cursor=${encodeCursor(`${fortnightAgo}${position}`)}`]) {
          const page = await read(`/v1/usage?period=minute&limit=20${by}${cursor}`, busy.key);
          expect([page.status, page.json.length]).toEqual([200, 20]);
          expect(page.rows).toBeLessThan(200);
        }
      },
    );

    it('tries limits on the whole month, or on the days that are kept with fewer rows', async () => {
      const month = await read(`/admin/quotas/${busy.quotaId}/what-if?perMinute=9&perDay=100000`, admin.key);
      const { denied, deniedMinutes } = month.json;
      expect([month.status, denied]).toEqual([200, deniedMinutes]);
      expect(deniedMinutes).toBeGreaterThan(29 * 1440 - 5);
      expect(month.rows).toBeLessThan(2 * MONTH_OF_MINUTES + 100);
      const days = await read(`/admin/quotas/${busy.quotaId}/what-if?plan=pro`, admin.key, 2);
      expect(days.rows).toBeLessThan(2 * 2 * 1440 + 100);
    });
  });
});
