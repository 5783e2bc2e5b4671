import { randomBytes } from 'node:crypto';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';

describe('a replica whose counting connection was lost while PostgreSQL has no connection left for its role', () => {
  const role = `counting_${randomBytes(6).toString('hex')}`;
  let database: TestDatabase;
  let replica: TestApplication;

  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    const direct = new URL(database.url);
    [direct.username, direct.password] = [role, 'secret'];
    replica = await startApplication({ database, environment: { DIRECT_DATABASE_URL: direct.href } });
  });
  afterAll(async () => {
    await replica.close();
    await database.query(`DROP OWNED BY ${role}`);
    await database.query(`DROP ROLE ${role}`);
    await database.drop();
  });

  it('returns 503 until it can count again, and decides nothing by itself', async () => {
    const { key } = await replica.issue({ plan: 'free' });
    const call = () => send(`${replica.url}/v1/pets`, { key });
    expect((await call()).headers.get('x-ratelimit-remaining')).toBe('59');
    await database.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
    await database.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'animal-store counters' AND usename = $1`,
      [role],
    );
    for (let calls = 0; calls < 5; calls += 1) {
      const response = await call();
      expectError(response, 503, 'service_unavailable');
      expect(response.headers.get('retry-after')).toBe('1');
    }
    await database.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    const { status, headers } = await call();
    expect([status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-degraded')]).toEqual([
      200,
      '58',
      null,
    ]);
  });
});
