import type { IssuedKey } from '../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from './support/application.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';

const MINUTE_MS = 60_000;

describe('GET /v1/rate-limit', () => {
  let store: TestApplication;

  beforeEach(async () => {
    store = await startApplication();
  });
  afterEach(() => store.close());

  const small = () => store.issue({ plan: 'enterprise', perMinute: 3, perDay: 100 });
  const ask = ({ key }: Pick<IssuedKey, 'key'>, method = 'GET') =>
    send(`${store.url}/v1/rate-limit`, { key, method });
  const list = ({ key }: IssuedKey) => send(`${store.url}/v1/pets`, { key });

  const minuteEnd = () => (Math.floor(store.clock.now() / MINUTE_MS) + 1) * 60;
  const dayEnd = () => (Math.floor(store.clock.now() / 86_400_000) + 1) * 86_400;
  const standing = (minuteLeft: number, dayLeft: number, refusalsUntilBan: number | null) => ({
    plan: 'enterprise',
    windows: [
      { name: 'minute', limit: 3, remaining: minuteLeft, reset: minuteEnd() },
      { name: 'day', limit: 100, remaining: dayLeft, reset: dayEnd() },
    ],
    refusalsUntilBan,
    bannedUntil: null,
  });
  const told = ({ headers }: Answer) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

  it('tells a new key that nothing is used', async () => {
    const key = await small();
    const answer = await ask(key);
    expect({ status: answer.status, body: answer.json }).toEqual({ status: 200, body: standing(3, 100, 3) });
    expectRateLimitHeaders(answer);
    expect(told(answer)).toEqual([3, 3, minuteEnd()]);
    expect(answer.headers.get('ratelimit-policy')).toBe('"minute";q=3;w=60, "day";q=100;w=86400');
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('takes nothing, neither by GET nor by HEAD, and tells what others took', async () => {
    const key = await small();
    await list(key);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await ask(key, method);
      expect(answer.status).toBe(200);
      expect(told(answer)).toEqual([3, 2, minuteEnd()]);
    }
    expect((await ask(key)).json).toEqual(standing(2, 99, 3));
    expect(told(await list(key))).toEqual([3, 1, minuteEnd()]);
  });

  it('answers where no window has room, and tells the refusals that remain', async () => {
    const key = await small();
    for (const status of [200, 200, 200, 429]) {
      expect((await list(key)).status).toBe(status);
    }
    const answer = await ask(key);
    expect({ status: answer.status, body: answer.json }).toEqual({ status: 200, body: standing(0, 97, 2) });
    expect(told(answer)).toEqual([3, 0, minuteEnd()]);
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('answers while the key is banned, with the end of the ban', async () => {
    const key = await small();
    for (const status of [200, 200, 200, 429, 429, 429]) {
      expect((await list(key)).status).toBe(status);
    }
    const refused = await list(key);
    expectError(refused, 429, 'api_key_banned');
    const answer = await ask(key);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...standing(0, 97, 0), bannedUntil: expect.any(String) });
    const bannedUntilMs = Date.parse(answer.json.bannedUntil);
    expect(bannedUntilMs - store.clock.now()).toBeGreaterThan(50_000);
    expect(bannedUntilMs - store.clock.now()).toBeLessThanOrEqual(60_000);
    expect(told(answer)).toEqual([3, 0, Math.ceil(bannedUntilMs / 1000)]);
    expect(told(answer)).toEqual(told(refused));
  });

  it('tells the windows of now, once those that were used are over', async () => {
    const key = await small();
    await list(key);
    await list(key);
    store.clock.travel(MINUTE_MS);
    expect((await ask(key)).json).toEqual(standing(3, 98, 3));
    store.clock.travel(86_400_000);
    expect((await ask(key)).json).toEqual(standing(3, 100, 3));
  });

  it('is the same for a key and its successor, which share a quota', async () => {
    const admin = await store.issue({ role: 'admin', plan: 'business' });
    const key = await small();
    const rotated = await send(`${store.url}/admin/keys/${key.id}/rotate`, {
      method: 'POST',
      key: admin.key,
    });
    await list(key);
    expect((await ask(rotated.json)).json).toEqual(standing(2, 99, 3));
  });

  it('has 60 requests a minute of its own, of the quota, and no ban', async () => {
    const key = await small();
    for (let sent = 0; sent < 60; sent += 1) {
      expect((await ask(key)).status).toBe(200);
    }
    for (let refusals = 0; refusals < 130; refusals += 1) {
      const refused = await ask(key);
      expectError(
        refused,
        429,
        'rate_limit_exceeded',
        expect.stringMatching(
          /^Over the limit of 60 requests per minute of this operation\. Wait \d+ seconds? /,
        ),
      );
      expect(told(refused)).toEqual([60, 0, minuteEnd()]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await list(key)).status).toBe(200);
    store.clock.travel(MINUTE_MS);
    expect((await ask(key)).json).toEqual(standing(3, 99, 3));
  });

  it('needs a key, and counts who has none against the address', async () => {
    const answer = await send(`${store.url}/v1/rate-limit`);
    expectError(answer, 401, 'missing_api_key');
    expect(told(answer)).toEqual([300, 299, minuteEnd()]);
  });

  it('counts another method of its path against the quota, as an unknown operation', async () => {
    const key = await small();
    const answer = await ask(key, 'POST');
    expectError(answer, 405, 'method_not_allowed');
    expect(told(answer)).toEqual([3, 2, minuteEnd()]);
  });
});

it('GET /v1/rate-limit tells of no refusals until a ban where bans are off', async () => {
  const store = await startApplication({ environment: { BAN_DURATIONS: [] } });
  const { key } = await store.issue();
  const { status, json } = await send(`${store.url}/v1/rate-limit`, { key });
  expect({ status, ban: [json.refusalsUntilBan, json.bannedUntil] }).toEqual({
    status: 200,
    ban: [null, null],
  });
  await store.close();
});
