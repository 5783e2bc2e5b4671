import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { until } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { isDegraded, remaining } from '../support/http/rate-limit-headers.js';
import { whileBroken } from '../support/database/broken-table.js';

const RECOVERY_MS = 2000;

describe('a request whose key cannot be looked up', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let store: TestApplication;
  let known: IssuedKey;
  let unseen: IssuedKey;
  const fetchPets = (its?: string) => send(`${store.url}/v1/pets`, { key: its });

  beforeAll(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url);
    store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    known = await store.issue({ plan: 'business' });
    unseen = await store.issue();
    expect(remaining(await fetchPets(known.key))).toBe(999);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await store.close();
    proxy.close();
    await database.drop();
  });

  it('returns 500 with rate-limit headers when the look-up has a defect', async () => {
    await whileBroken(database, 'api_keys', async () => {
      for (const path of ['/v1/pets', '/v1/nothing', '/admin/keys']) {
        const response = await send(`${store.url}${path}`, { key: unseen.key });
        expectError(response, 500, 'internal_error');
        expectRateLimitHeaders(response);
        expect(isDegraded(response)).toBe(true);
      }
    });
  });

  describe('while the database is unavailable', () => {
    /** Until then, requests are authorized by cached keys and counted. */
    beforeAll(async () => {
      proxy.goAway();
      let before = await fetchPets(known.key);
      await until(async () => {
        const now = await fetchPets(known.key);
        const isUncounted = remaining(now) === remaining(before);
        before = now;
        return isUncounted;
      });
    });

    it('returns 503 before it is counted, with the limits last known of its quota', async () => {
      const [one, other] = [await fetchPets(known.key), await fetchPets(known.key)];
      for (const response of [one, other]) {
        expectError(response, 503, 'service_unavailable');
        expectRateLimitHeaders(response);
        expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect(isDegraded(response)).toBe(true);
        expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=1000;w=60, "day";q=100000;w=86400');
      }
      expect(remaining(one)).toBe(remaining(other));
    });

    it('returns 503 with the limits of its quota, even if the key was cached too long ago', async () => {
      const now = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
      const response = await fetchPets(known.key);
      expectError(response, 503, 'service_unavailable');
      expect(response.headers.get('x-ratelimit-limit')).toBe('1000');
    });

    it('returns 503 with the limits of its address when the key is not cached', async () => {
      const response = await fetchPets(unseen.key);
      expectError(response, 503, 'service_unavailable');
      expectRateLimitHeaders(response);
      expect([response.headers.get('x-ratelimit-limit'), remaining(response)]).toEqual(['300', 300]);
      expect(isDegraded(response)).toBe(true);
    });

    it('returns 401 without a key, because there is nothing to look up', async () => {
      const response = await fetchPets();
      expectError(response, 401, 'missing_api_key');
      expect([remaining(response), isDegraded(response)]).toEqual([299, true]);
    });
  });

  it('is served and counted again once the database is back', async () => {
    await proxy.comeBack();
    await until(async () => (await fetchPets(known.key)).status === 200, RECOVERY_MS);
    await until(async () => !isDegraded(await fetchPets(known.key)), RECOVERY_MS);
    const last = await fetchPets(known.key);
    const stored = await database.query('SELECT minute_used FROM rate_limit_counters WHERE bucket_key = $1', [
      `quota:${known.quotaId}`,
    ]);
    expect(stored).toEqual([{ minute_used: 1000 - remaining(last) }]);
  });
});
