import { descending } from '../support/counters/counting.js';
import { eventually } from '../support/eventually.js';
import { hold } from '../support/load/holding.js';
import {
  startForEach,
  AT_ONCE_MS,
  call,
  callAtOnce,
  callTimes,
  isDegraded,
  remaining,
  served,
  timed,
  stored,
  recovered,
  database,
  replica,
  key,
} from '../support/service/counting-replicas.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';

/** The longest wait of a request when the store hangs: the deadline, and a margin for a busy machine. */
const WAIT_MS = 750 + 400;

const lockRow = ({ quotaId } = key) =>
  `SELECT 1 FROM rate_limit_counters WHERE bucket_key = 'quota:${quotaId}' FOR UPDATE`;

startForEach();

describe('a replica whose counter store hangs', () => {
  it('returns 503 with Retry-After until three queries in a row had no reply, then decides without delay', async () => {
    await callTimes(10);
    replica.proxy.hang();
    for (let query = 1; query <= 2; query += 1) {
      const { ms, result } = await timed(() => call());
      expectError(result, 503, 'service_unavailable');
      expect(result.headers.get('retry-after')).toBe('1');
      expectRateLimitHeaders(result);
      expect(ms).toBeLessThan(WAIT_MS);
    }
    expect(replica.lines).not.toHaveBeenCalled();
    const third = await timed(() => call());
    expect([third.result.status, isDegraded(third.result), remaining(third.result)]).toEqual([200, true, 49]);
    expect(third.ms).toBeLessThan(WAIT_MS);
    const { ms, result } = await timed(() => callTimes(5));
    expect(result.map(remaining)).toEqual(descending(48, 44));
    expect(ms).toBeLessThan(AT_ONCE_MS);
    const status = await send(`${replica.app.url}/v1/rate-limit`, { key: key.key });
    expect([status.status, isDegraded(status)]).toEqual([200, true]);
    expect(status.json.windows).toMatchObject([{ remaining: 44 }, { remaining: 984 }]);
    expect(replica.lines.mock.calls).toEqual([[expect.stringMatching(/is away.*no response within 750 ms/)]]);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 10, day: 10 });
    expect(replica.lines).toHaveBeenCalledTimes(2);
  });

  it('returns 503 to all requests of a query without a reply, and counts the next as ever', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const { ms, result } = await timed(() => callAtOnce(9));
    expect(served(result)).toBe(0);
    expect(ms).toBeLessThan(2 * WAIT_MS);
    await lock.letGo();
    const next = await call();
    expect([next.status, isDegraded(next)]).toEqual([200, false]);
    expect(replica.lines).not.toHaveBeenCalled();
  });
});

describe('a replica whose connection to the counter store is cut', () => {
  it('returns 503 to the request in flight, and decides the next by itself as the store refuses it', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const cut = call();
    await eventually(() => expectLocksWaitedFor(database, 1));
    replica.proxy.goAway();
    expectError(await cut, 503, 'service_unavailable');
    expect((await callTimes(3)).map(isDegraded)).toEqual([true, true, true]);
    await lock.letGo();
    await replica.proxy.comeBack();
    await recovered();
  });
});
