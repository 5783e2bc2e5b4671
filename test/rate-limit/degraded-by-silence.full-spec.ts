import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
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
  descending,
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

/** Blocks the event loop of this process. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Busy-waits.
  }
}

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

  it('decides by itself for as long as the table is locked, and logs one line at each end', async () => {
    await callTimes(2);
    const lock = await hold(database.url, 'LOCK TABLE rate_limit_counters');
    try {
      expect((await callTimes(3)).map(({ status }) => status)).toEqual([503, 503, 200]);
      const start = performance.now();
      while (performance.now() - start < 1000) {
        expect(isDegraded(await call(replica, await replica.app.issue()))).toBe(true);
      }
      expect(replica.lines).toHaveBeenCalledTimes(1);
    } finally {
      await lock.letGo();
    }
    await recovered();
    expect(replica.lines).toHaveBeenCalledTimes(2);
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

describe('a paused replica', () => {
  it.each([300, 1000])(
    'uses the reply that arrived during a pause of %i ms with a query in flight',
    async (pauseMs) => {
      await call();
      const holder = new pg.Client({ connectionString: database.url });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query(lockRow());
      const letGo = holder.query('SELECT pg_sleep(0.2); COMMIT');
      const response = call();
      await eventually(() => expectLocksWaitedFor(database, 1));
      block(pauseMs);
      const { status, headers } = await response;
      expect([status, headers.get('x-ratelimit-degraded')]).toEqual([200, null]);
      await letGo;
      await holder.end();
    },
  );

  it.each([300, 1000])('completes a connection attempt after a pause of %i ms', async (pauseMs) => {
    const store = replica.app.app.get(CounterStore);
    const decision = store.consume({ bucketKey: 'quota:x', perMinute: 60, perDay: 1000 });
    await nextTurn();
    block(pauseMs);
    expect((await decision).degraded).toBe(false);
  });
});
