import type { IssuedKey } from '../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from './support/application.js';
import { isDegraded, remaining } from './support/counting-replicas.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.js';
import { until } from './support/eventually.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { send } from './support/http.js';

const RECOVERY_MS = 2000;

describe('a request that cannot be judged, as the keys are away', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let store: TestApplication;
  let known: IssuedKey;
  const ask = (its?: string) => send(`${store.url}/v1/pets`, { ...(its !== undefined && { key: its }) });

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url);
    store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    known = await store.issue({ plan: 'business' });
    expect(remaining(await ask(known.key))).toBe(999);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    proxy.close();
    await database.drop();
  });

  /** Until keys that are remembered count no longer, requests are judged, and so counted. */
  async function untilKeysAreAway(): Promise<void> {
    let before = await ask(known.key);
    await until(async () => {
      const now = await ask(known.key);
      const isUncounted = remaining(now) === remaining(before);
      before = now;
      return isUncounted;
    });
  }

  it('is 503 before it is counted, and told the numbers last known of its quota', async () => {
    proxy.goAway();
    await untilKeysAreAway();
    const [one, other] = [await ask(known.key), await ask(known.key)];
    for (const answer of [one, other]) {
      expectError(answer, 503, 'service_unavailable');
      expectRateLimitHeaders(answer);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(isDegraded(answer)).toBe(true);
      expect(answer.headers.get('ratelimit-policy')).toBe('"minute";q=1000;w=60, "day";q=100000;w=86400');
    }
    expect(remaining(one)).toBe(remaining(other));
  });

  it('is told them also when the key is remembered too long to let anybody in', async () => {
    proxy.goAway();
    await untilKeysAreAway();
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    const answer = await ask(known.key);
    expectError(answer, 503, 'service_unavailable');
    expect(answer.headers.get('x-ratelimit-limit')).toBe('1000');
  });

  it('is told the numbers of its address when the key was never seen', async () => {
    const unseen = await store.issue();
    proxy.goAway();
    await untilKeysAreAway();
    const answer = await ask(unseen.key);
    expectError(answer, 503, 'service_unavailable');
    expectRateLimitHeaders(answer);
    expect([answer.headers.get('x-ratelimit-limit'), remaining(answer)]).toEqual(['300', 300]);
    expect(isDegraded(answer)).toBe(true);
  });

  it('without any key is 401, as there is nothing to look up', async () => {
    proxy.goAway();
    const answer = await ask();
    expectError(answer, 401, 'missing_api_key');
    expect([remaining(answer), isDegraded(answer)]).toEqual([299, true]);
  });

  it('by a defect of ours is 500, and has the numbers too', async () => {
    const unseen = await store.issue();
    await database.query('ALTER TABLE api_keys RENAME TO api_keys_away');
    for (const path of ['/v1/pets', '/v1/nothing', '/admin/keys']) {
      const answer = await send(`${store.url}${path}`, { key: unseen.key });
      expectError(answer, 500, 'internal_error');
      expectRateLimitHeaders(answer);
      expect(isDegraded(answer)).toBe(true);
    }
  });

  it('is served again, and what was counted meanwhile is added, once the database is back', async () => {
    proxy.goAway();
    await untilKeysAreAway();
    const { headers } = await ask(known.key);
    await proxy.comeBack();
    await until(async () => (await ask(known.key)).status === 200, RECOVERY_MS);
    await until(async () => !isDegraded(await ask(known.key)), RECOVERY_MS);
    const last = await ask(known.key);
    expect(remaining(last)).toBeLessThan(Number(headers.get('x-ratelimit-remaining')));
    const stored = await database.query('SELECT minute_used FROM rate_limit_counters WHERE subject = $1', [
      `quota:${known.quotaId}`,
    ]);
    expect(stored).toEqual([{ minute_used: 1000 - remaining(last) }]);
  });
});
