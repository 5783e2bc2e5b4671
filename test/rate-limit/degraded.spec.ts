import { ban } from '../support/counters/bans.js';
import {
  startForEach,
  AT_ONCE_MS,
  call,
  callTimes,
  isDegraded,
  remaining,
  served,
  timed,
  stored,
  refuse,
  recovered,
  database,
  replica,
  key,
} from '../support/service/counting-replicas.js';
import { descending } from '../support/counters/counting.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

startForEach();

describe('a replica whose counter store refuses connections', () => {
  it('allows a quota what was last known to remain, marks responses degraded, delays none, and counts in the store again when it is back', async () => {
    expect((await callTimes(10)).map(remaining)).toEqual(descending(59, 50));
    await refuse();
    const first = await timed(() => call());
    expect(first.ms).toBeLessThan(AT_ONCE_MS);
    const responses = [first.result, ...(await callTimes(52))];
    expect(responses.every(isDegraded)).toBe(true);
    expect(served(responses)).toBe(50);
    expect(responses.map(remaining)).toEqual([...descending(49, 0), 0, 0, 0]);
    for (const response of responses) {
      expectRateLimitHeaders(response);
    }
    const message = expect.stringContaining('57 refusals');
    expectError(responses.at(-1) as HttpResponse, 429, 'rate_limit_exceeded', message);
    expect(replica.lines.mock.calls).toEqual([
      [expect.stringMatching(/^The counter store is away, so this replica counts by itself: .*ECONNREFUSED/)],
    ]);
    await replica.proxy.comeBack();
    await recovered();
    const after = await call();
    expect([after.status, isDegraded(after), remaining(after)]).toEqual([200, false, 49]);
    expect(await stored()).toEqual({ minute: 11, day: 11 });
    expect(replica.lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
  });

  it('enforces a ban that it last knew, and lets administrators revoke and change the key, which shows it', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    const until = new Date(replica.app.clock.now() + 60_000);
    await ban(database, key, until);
    const before = await call();
    expectError(before, 429, 'api_key_banned');
    await refuse();
    const after = await call();
    expectError(after, 429, 'api_key_banned');
    expect(isDegraded(after)).toBe(true);
    expect(after.headers.get('x-ratelimit-reset')).toBe(before.headers.get('x-ratelimit-reset'));
    const administer = (method: string, path: string, body?: object) =>
      send(`${replica.app.url}/admin/keys${path}`, { method, key: admin.key, body });
    for (const [method, path, body] of [
      ['GET', `/${key.id}`],
      ['PATCH', `/${key.id}`, { plan: 'pro' }],
      ['POST', `/${key.id}/revoke`],
    ] as const) {
      const { status, json, headers } = await administer(method, path, body);
      expect([status, json.bannedUntil]).toEqual([200, until.toISOString()]);
      expect(headers.get('x-ratelimit-degraded')).toBe('true');
    }
    expectError(await call(), 401, 'invalid_api_key');
  });

  it('returns 503 at once, naming the counters, to lift a ban and to list keys with theirs', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    await ban(database, key, new Date(replica.app.clock.now() + 60_000));
    await refuse();
    await call();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', `/${key.id}/unban`],
    ] as const) {
      const { ms, result: response } = await timed(() =>
        send(`${replica.app.url}/admin/keys${path}`, { method, key: admin.key }),
      );
      expect(ms).toBeLessThan(AT_ONCE_MS);
      expectRateLimitHeaders(response);
      expectError(
        response,
        503,
        'service_unavailable',
        'The counter store, which holds the bans, is away or overloaded. Try again shortly.',
      );
      expect(response.headers.get('retry-after')).toBe('1');
    }
    expect(await database.query("SELECT 1 FROM audit_events WHERE action = 'key.unbanned'")).toEqual([]);
  });
});
