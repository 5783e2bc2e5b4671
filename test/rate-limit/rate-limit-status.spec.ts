import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { RateLimitStatus } from '../../src/rate-limit/rate-limit-status.schema.js';
import { banThreshold } from '../../src/rate-limit/rules/ban.js';
import { Limits } from '../../src/schemas/limits.schema.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { MINUTE_MS } from '../support/time/clock.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { limitHeaders } from '../support/http/rate-limit-headers.js';

describe('GET /v1/rate-limit', () => {
  let store: TestApplication;

  beforeAll(async () => {
    store = await startApplication();
  });
  beforeEach(() => store.clock.travelToMinuteStart());
  afterAll(() => store.close());

  const small = () => store.issue({ plan: 'enterprise', perMinute: 3, perDay: 100 });
  const fetchStatus = ({ key }: Pick<IssuedKey, 'key'>, method = 'GET') =>
    send(`${store.url}/v1/rate-limit`, { key, method });
  const list = ({ key }: IssuedKey) => send(`${store.url}/v1/pets`, { key });

  const minuteEnd = () => (Math.floor(store.clock.now() / MINUTE_MS) + 1) * 60;
  const dayEnd = () => (Math.floor(store.clock.now() / 86_400_000) + 1) * 86_400;
  const rateLimitStatus = (minuteLeft: number, dayLeft: number, denialsUntilBan = denialsBeforeBan(3)) => ({
    plan: 'enterprise',
    windows: [
      { name: 'minute', limit: 3, remaining: minuteLeft, reset: minuteEnd() },
      { name: 'day', limit: 100, remaining: dayLeft, reset: dayEnd() },
    ],
    denialsUntilBan,
    bannedUntil: null,
  });

  /** Uses the windows of a key: one request for each of these statuses. */
  async function use(key: IssuedKey, ...statuses: number[]): Promise<void> {
    for (const status of statuses) {
      expect((await list(key)).status).toBe(status);
    }
  }

  it('returns full windows for a new key', async () => {
    const response = await fetchStatus(await small());
    expect(response).toMatchObject({ status: 200, json: rateLimitStatus(3, 100) });
    expectRateLimitHeaders(response);
    expect(limitHeaders(response)).toEqual([3, 3, minuteEnd()]);
    expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=3;w=60, "day";q=100;w=86400');
    expect(response.headers.has('retry-after')).toBe(false);
  });

  it('consumes nothing, by GET or HEAD, and returns what other requests consumed', async () => {
    const key = await small();
    await list(key);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const response = await fetchStatus(key, method);
      expect(response.status).toBe(200);
      expect(limitHeaders(response)).toEqual([3, 2, minuteEnd()]);
    }
    expect((await fetchStatus(key)).json).toEqual(rateLimitStatus(2, 99));
    expect(limitHeaders(await list(key))).toEqual([3, 1, minuteEnd()]);
  });

  it('returns 200 when no window has room, with the denials that remain until a ban', async () => {
    const key = await small();
    await use(key, 200, 200, 200, 429);
    const response = await fetchStatus(key);
    expect(response).toMatchObject({ status: 200, json: rateLimitStatus(0, 97, denialsBeforeBan(3) - 1) });
    expect(limitHeaders(response)).toEqual([3, 0, minuteEnd()]);
    expect(response.headers.has('retry-after')).toBe(false);
  });

  it('returns 200 while the key is banned, with the end of the ban', async () => {
    const key = await small();
    await use(key, 200, 200, 200, ...Array<number>(denialsBeforeBan(3)).fill(429));
    const denied = await list(key);
    expectError(denied, 429, 'api_key_banned');
    const response = await fetchStatus(key);
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ ...rateLimitStatus(0, 97, 0), bannedUntil: expect.any(String) });
    const bannedUntilMs = Date.parse(response.json.bannedUntil);
    expect(bannedUntilMs - store.clock.now()).toBeGreaterThan(50_000);
    expect(bannedUntilMs - store.clock.now()).toBeLessThanOrEqual(60_000);
    expect(limitHeaders(response)).toEqual([3, 0, Math.ceil(bannedUntilMs / 1000)]);
    expect(limitHeaders(response)).toEqual(limitHeaders(denied));
  });

  it('returns the current windows, once those that were used are over', async () => {
    const key = await small();
    await use(key, 200, 200);
    store.clock.travel(MINUTE_MS);
    expect((await fetchStatus(key)).json).toEqual(rateLimitStatus(3, 98));
    store.clock.travel(86_400_000);
    expect((await fetchStatus(key)).json).toEqual(rateLimitStatus(3, 100));
  });

  it('returns the same for a key and its successor, which share a quota', async () => {
    const admin = await store.issue({ role: 'admin', plan: 'business' });
    const key = await small();
    const rotation = `${store.url}/admin/keys/${key.id}/rotate`;
    const rotated = await send(rotation, { method: 'POST', key: admin.key });
    await list(key);
    expect((await fetchStatus(rotated.json)).json).toEqual(rateLimitStatus(2, 99));
  });

  it('has a limit of 60 requests a minute for each quota, and never starts a ban', async () => {
    const key = await small();
    const message = /^Rate limit exceeded: this operation allows 60 requests per minute\. Wait \d+ seconds? /;
    const responses = await Promise.all(Array.from({ length: 125 }, () => fetchStatus(key)));
    const denials = responses.filter(({ status }) => status !== 200);
    expect(denials).toHaveLength(65);
    for (const denied of denials) {
      expectError(denied, 429, 'rate_limit_exceeded', expect.stringMatching(message));
      expect(limitHeaders(denied)).toEqual([60, 0, minuteEnd()]);
      expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await list(key)).status).toBe(200);
    store.clock.travel(MINUTE_MS);
    expect((await fetchStatus(key)).json).toEqual(rateLimitStatus(3, 99));
  });

  it('returns 401 without a key, and counts the request against the address', async () => {
    const response = await send(`${store.url}/v1/rate-limit`);
    expectError(response, 401, 'missing_api_key');
    expect(limitHeaders(response)).toEqual([300, 299, minuteEnd()]);
  });

  it('counts another method of the path against the quota, as an unknown operation', async () => {
    const key = await small();
    const response = await fetchStatus(key, 'POST');
    expectError(response, 405, 'method_not_allowed');
    expect(limitHeaders(response)).toEqual([3, 2, minuteEnd()]);
  });
});

describe('RateLimitStatus', () => {
  it('documents a type that holds the denials until the ban of the largest limit', () => {
    const { perMinute } = Limits.parse({ perMinute: 2_147_483_647n, perDay: 1n });
    const threshold = banThreshold({ perMinute, perDay: 1 }, [1]);
    expect(RateLimitStatus.shape.denialsUntilBan.parse(threshold)).toBe(threshold);
    expect(Limits.safeParse({ perMinute: 2_147_483_648n, perDay: 1n }).success).toBe(false);
  });
});
