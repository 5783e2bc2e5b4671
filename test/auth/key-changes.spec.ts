import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import type { HttpResponse } from '../support/http/http.js';
import { CountingService } from './counting-service.js';
import { staleness } from './staleness.js';

const MAX_STALE_MS = 1000;
const WIDE = { plan: 'wide' };

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("INSERT INTO plans VALUES ('wide', 1000000, 1000000), ('wider', 2000000, 2000000)");
});
afterAll(() => database.drop());

describe('a change by SQL of a cached key', () => {
  const summarize = ({ status, headers }: HttpResponse) =>
    [status, headers.get('x-ratelimit-limit'), headers.get('x-api-key-expires')].join();

  const BEFORE = '200,1000000,';
  let replicas: [CountingService, CountingService];

  beforeAll(async () => {
    replicas = [
      new CountingService(await startApplication({ database })),
      new CountingService(await startApplication({ database })),
    ];
  });
  afterEach(() =>
    database.query("UPDATE plans SET per_minute = 1000000, per_day = 1000000 WHERE name = 'wide'"),
  );
  afterAll(() => Promise.all(replicas.map(({ store }) => store.close())));

  const ofKey = (statement: string) => `${statement} WHERE id = $1`;
  const ofQuota = (change: string) =>
    `UPDATE quotas SET ${change} WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)`;
  it.each([
    ['revocation', ofKey('UPDATE api_keys SET revoked_at = now()'), '401,300,'],
    ['expiry', ofKey("UPDATE api_keys SET expires_at = now() - interval '1 s'"), '401,300,'],
    [
      'a future expiry',
      ofKey("UPDATE api_keys SET expires_at = '2090-01-01T00:00:00.500Z'"),
      '200,1000000,Sun, 01 Jan 2090 00:00:00 GMT',
    ],
    ['deletion', ofKey('DELETE FROM api_keys'), '401,300,'],
    ['deletion of all keys', 'TRUNCATE api_keys', '401,300,'],
    ['another plan', ofQuota("plan = 'wider'"), '200,2000000,'],
    ['own limits', ofQuota('per_minute = 3000000, per_day = 3000000'), '200,3000000,'],
    [
      'other limits of its plan',
      "UPDATE plans SET per_minute = 4000000, per_day = 4000000 WHERE name = 'wide'",
      '200,4000000,',
    ],
  ])('takes effect on every replica within a second: %s', async (_what, statement, expected) => {
    const issued = await replicas[0].store.issue(WIDE);
    for (const replica of replicas) {
      await replica.untilCached(issued.key);
      expect(summarize(await replica.listPets(issued.key))).toBe(BEFORE);
    }
    await database.query(statement, statement.includes('$1') ? [issued.id] : []);
    for (const { staleMs, response } of await Promise.all(
      replicas.map(({ store }) => staleness(store.url, issued.key, (next) => summarize(next) === BEFORE)),
    )) {
      expect(staleMs).toBeLessThan(MAX_STALE_MS);
      expect(summarize(response)).toBe(expected);
    }
  });
});
