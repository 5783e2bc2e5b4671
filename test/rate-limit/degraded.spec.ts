import { ban } from '../support/counters/bans.js';
import { TestClock } from '../support/counters/clock.js';
import {
  startForEach,
  AT_ONCE_MS,
  ANONYMOUS_LIMIT,
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
  it('allows a quota what was last known to remain, marks responses degraded, and reports the usage when the store is back', async () => {
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
    expect(await stored()).toEqual({ minute: 10, day: 10 });

    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 60, day: 60 });
    const after = await call();
    expectError(after, 429, 'rate_limit_exceeded');
    expect(isDegraded(after)).toBe(false);
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

  it('gives a full window to a quota it has never seen', async () => {
    await refuse();
    const responses = await callAtOnce(70);
    expect(responses.every(isDegraded)).toBe(true);
    expect(served(responses)).toBe(60);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 60, day: 60 });
  });

  it('allows what it last knew to remain; the usage of all replicas is added, beyond the limit', async () => {
    const other = await startReplica();
    await callTimes(10);
    await refuse();
    await refuse(other);
    expect(served(await callAtOnce(70))).toBe(50);
    expect(served(await callAtOnce(70, other))).toBe(60);
    await replica.proxy.comeBack();
    await recovered();
    await other.proxy.comeBack();
    await recovered(other);
    expect(await stored()).toEqual({ minute: 120, day: 120 });
    expectError(await call(), 429, 'rate_limit_exceeded');
  });

  it('limits anonymous clients too', async () => {
    const anonymous = await callTimes(2, replica, {});
    expect(anonymous.map(remaining)).toEqual([4, 3]);
    await refuse();
    const responses = await callTimes(4, replica, {});
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(responses.map(remaining)).toEqual([2, 1, 0, 0]);
    expect(responses.every(isDegraded)).toBe(true);
    await replica.proxy.comeBack();
    await recovered();
    expect(
      await database.query(`SELECT minute_used FROM rate_limit_counters WHERE day_limit IS NULL`),
    ).toEqual([{ minute_used: ANONYMOUS_LIMIT }]);
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
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored(small)).toEqual({ minute: 2, day: 5 });
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

    it('counts requests before its first contact with the store in the minute open at the store', async () => {
      ahead.proxy.goAway();
      expect(served(await callAtOnce(70, ahead))).toBe(60);
      await ahead.proxy.comeBack();
      await recovered(ahead);
      expect(await stored()).toEqual({ minute: 60, day: 60 });
      const denied = await call();
      expectError(denied, 429, 'rate_limit_exceeded');
      expect(secondsToReset(denied)).toBeLessThanOrEqual(60);
      replica.app.clock.travel(60_000);
      expect(remaining(await call())).toBe(59);
    });

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

  it('returns 503 at once, naming the counters, for requests that report a ban, and changes nothing', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    await ban(database, key, new Date(replica.app.clock.now() + 60_000));
    const administered = async () => [
      await database.query('SELECT * FROM api_keys ORDER BY id'),
      await database.query('SELECT * FROM quotas ORDER BY id'),
      await database.query('SELECT * FROM audit_events ORDER BY id'),
      await database.query('SELECT banned_until FROM rate_limit_counters WHERE banned_until IS NOT NULL'),
    ];
    await refuse();
    await call();
    const before = await administered();
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', `/${key.id}/revoke`],
      ['POST', `/${key.id}/unban`],
      ['POST', `/${key.id}/rotate`],
      ['PATCH', `/${key.id}`, { plan: 'pro' }],
    ] as const) {
      const { ms, result: response } = await timed(() =>
        send(`${replica.app.url}/admin/keys${path}`, { method, key: admin.key, body }),
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
    expect(await administered()).toEqual(before);
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
    expect(replica.lines.mock.calls.slice(1)).toEqual([
      ['The counter store is back, and has counted what this replica allowed meanwhile'],
    ]);
  });
});
