import { ban } from '../support/counters/bans.js';
import { TestClock } from '../support/counters/clock.js';
import {
  startForEach,
  AT_ONCE_MS,
  startReplica,
  call,
  callAtOnce,
  callTimes,
  isDegraded,
  remaining,
  served,
  descending,
  timed,
  stored,
  refuse,
  recovered,
  database,
  replica,
  type Replica,
  key,
} from '../support/service/counting-replicas.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

/** The clock of a replica that is five minutes ahead; the clock of its store is right. */
class ClockAhead extends TestClock {
  override now(): number {
    return super.now() + 300_000;
  }
}

startForEach();

describe('a replica whose counter store refuses connections', () => {
  it('allows a quota what was last known to remain, marks responses degraded, and counts in the store again when it is back', async () => {
    expect((await callTimes(10)).map(remaining)).toEqual(descending(59, 50));
    await refuse();
    const responses = await callTimes(53);
    expect(responses.every(isDegraded)).toBe(true);
    expect(served(responses)).toBe(50);
    expect(responses.map(remaining)).toEqual([...descending(49, 0), 0, 0, 0]);
    for (const response of responses) {
      expectRateLimitHeaders(response);
    }
    expectError(
      responses[52] as HttpResponse,
      429,
      'rate_limit_exceeded',
      expect.stringContaining('57 refusals'),
    );
    await replica.proxy.comeBack();
    await recovered();
    const after = await call();
    expect([after.status, isDegraded(after), remaining(after)]).toEqual([200, false, 49]);
    expect(await stored()).toEqual({ minute: 11, day: 11 });
  });

  it('delays no request, not even the first', async () => {
    await call();
    await refuse();
    for (let sent = 0; sent < 5; sent += 1) {
      const { ms, result } = await timed(() => call());
      expect([result.status, isDegraded(result)]).toEqual([200, true]);
      expect(ms).toBeLessThan(AT_ONCE_MS);
    }
  });

  it('gives a full window to a quota it has never seen, and holds what it allowed against it in the next outage', async () => {
    const other = await startReplica();
    await refuse();
    await refuse(other);
    const responses = await callAtOnce(65);
    expect(responses.every(isDegraded)).toBe(true);
    expect(served(responses)).toBe(60);
    expect(served(await callAtOnce(40, other))).toBe(40);
    await replica.proxy.comeBack();
    await recovered();
    await other.proxy.comeBack();
    await recovered(other);
    expect(await stored()).toBeUndefined();
    expect(served(await callTimes(10, other))).toBe(10);
    await refuse();
    await refuse(other);
    expect(served(await callAtOnce(5))).toBe(0);
    expect(served(await callAtOnce(15, other))).toBe(10);
  });

  it('limits anonymous clients too', async () => {
    const anonymous = await callTimes(2, replica, {});
    expect(anonymous.map(remaining)).toEqual([4, 3]);
    await refuse();
    const responses = await callTimes(4, replica, {});
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(responses.map(remaining)).toEqual([2, 1, 0, 0]);
    expect(responses.every(isDegraded)).toBe(true);
  });

  it('enforces a known ban until its end', async () => {
    await ban(database, key, new Date(replica.app.clock.now() + 30_000));
    const before = await call();
    expectError(before, 429, 'api_key_banned');
    await refuse();
    const after = await call();
    expectError(after, 429, 'api_key_banned');
    expect(isDegraded(after)).toBe(true);
    expect(after.headers.get('x-ratelimit-reset')).toBe(before.headers.get('x-ratelimit-reset'));
    replica.app.clock.travel(30_000);
    expect((await call()).status).toBe(200);
  });

  it('starts a new minute by the last time of the store, and continues the day', async () => {
    const small = await replica.app.issue({ plan: 'enterprise', perMinute: 3, perDay: 5 });
    expect((await callTimes(3, replica, small)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await refuse();
    expectError(await call(replica, small), 429, 'rate_limit_exceeded');
    replica.app.clock.travel(60_000);
    const responses = await callTimes(3, replica, small);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(responses.map(remaining)).toEqual([1, 0, 0]);
  });

  describe('when its clock is five minutes ahead', () => {
    let ahead: Replica;
    beforeEach(async () => {
      ahead = await startReplica(new ClockAhead());
      // Both start their minute with that of the store.
      replica.app.clock.storeOffsetMs = ahead.app.clock.storeOffsetMs;
    });

    const secondsToReset = ({ headers }: HttpResponse) =>
      Number(headers.get('x-ratelimit-reset')) - replica.app.clock.now() / 1000;

    it('does not take a window that is ahead for the time of the store', async () => {
      await call(ahead);
      await database.query('UPDATE rate_limit_counters SET minute = minute + 5');
      expect(secondsToReset(await call(ahead))).toBeGreaterThan(240);
      await refuse(ahead);
      const other = await call(ahead, await ahead.app.issue());
      expect(isDegraded(other)).toBe(true);
      expect(secondsToReset(other)).toBeLessThanOrEqual(60);
    });
  });

  it('lets administrators revoke and change a key, which shows the ban that it last knew', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    const until = new Date(replica.app.clock.now() + 60_000);
    await ban(database, key, until);
    expectError(await call(), 429, 'api_key_banned');
    await refuse();
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

  it('logs one line with the reason when the store is away, and one when it is back', async () => {
    await call();
    await refuse();
    await callTimes(10);
    expect(replica.lines.mock.calls).toEqual([
      [expect.stringMatching(/^The counter store is away, so this replica counts by itself: .*ECONNREFUSED/)],
    ]);
    await replica.proxy.comeBack();
    await recovered();
    expect(replica.lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
  });
});
