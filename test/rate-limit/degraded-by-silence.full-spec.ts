import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { SHARED_COUNTER_STORE } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { eventually, until } from '../support/eventually.js';
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
  it('delays three requests by the deadline and later ones not at all, and does not report what may have been counted', async () => {
    await callTimes(10);
    replica.proxy.hang();
    for (const left of [49, 48, 47]) {
      const { ms, result } = await timed(() => call());
      expect([result.status, isDegraded(result), remaining(result)]).toEqual([200, true, left]);
      expect(ms).toBeLessThan(WAIT_MS);
    }
    const { ms, result } = await timed(() => callTimes(5));
    expect(result.map(remaining)).toEqual(descending(46, 42));
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(replica.lines).toHaveBeenCalledTimes(1);
    await replica.proxy.comeBack();
    await recovered();
    // The outcome of the first is unknown; the requests after it had no connection, so they are reported.
    expect(await stored()).toEqual({ minute: 17, day: 17 });
    expect(replica.lines).toHaveBeenCalledTimes(2);
  });

  it('delays GET /v1/rate-limit by the deadline too, and returns the cached status', async () => {
    await callTimes(10);
    replica.proxy.hang();
    const { ms, result } = await timed(() => send(`${replica.app.url}/v1/rate-limit`, { key: key.key }));
    expect(result.status).toBe(200);
    expect(result.json.windows).toMatchObject([{ remaining: 50 }, { remaining: 990 }]);
    expect(isDegraded(result)).toBe(true);
    expect(ms).toBeLessThan(WAIT_MS);
  });

  it('delays queued requests no longer than the request in flight, and reports them', async () => {
    await call();
    replica.proxy.hang();
    const consume = jest.spyOn(replica.app.app.get<CounterStore>(SHARED_COUNTER_STORE), 'consume');
    const first = call();
    await until(() => consume.mock.calls.length === 1);
    const { ms, result } = await timed(() => callAtOnce(9));
    expect(served([await first, ...result])).toBe(10);
    expect(ms).toBeLessThan(WAIT_MS);
    await callTimes(6);
    await replica.proxy.comeBack();
    await recovered();
    // The request in flight may have been counted; the nine queued ones were not sent.
    expect(await stored()).toEqual({ minute: 1 + 9 + 6, day: 1 + 9 + 6 });
  });

  it('reports all usage when the server confirms that a locked table counted nothing', async () => {
    await callTimes(2);
    const lock = await hold(database.url, 'LOCK TABLE rate_limit_counters');
    try {
      for (const left of [57, 56, 55]) {
        const { ms, result } = await timed(() => call());
        expect([result.status, isDegraded(result), remaining(result)]).toEqual([200, true, left]);
        expect(ms).toBeLessThan(WAIT_MS);
      }
      expect((await timed(() => callTimes(5))).ms).toBeLessThan(AT_ONCE_MS);
    } finally {
      await lock.letGo();
    }
    await recovered();
    expect(await stored()).toEqual({ minute: 10, day: 10 });
  });

  it('logs the outage once while the store responds to probes but does not count, and its end once it counts', async () => {
    const full = await replica.app.issue({ plan: 'enterprise', perMinute: 5, perDay: 1000 });
    const consume = jest.spyOn(replica.app.app.get<CounterStore>(SHARED_COUNTER_STORE), 'consume');
    await callTimes(5, replica, full);
    const lock = await hold(database.url, lockRow(full));
    await callTimes(3, replica, full);
    expect(replica.lines).toHaveBeenCalledTimes(1);
    consume.mockClear();
    // There is nothing to report, so only counting can show that the store does not count.
    await until(async () => {
      const { status, headers } = await call(replica, full);
      expect([status, headers.get('x-ratelimit-degraded')]).toEqual([429, 'true']);
      return consume.mock.calls.length > 2;
    });
    expect(replica.lines).toHaveBeenCalledTimes(1);
    await lock.letGo();
    await until(async () => !isDegraded(await call(replica, full)));
    expect(replica.lines).toHaveBeenCalledTimes(2);
    expect(replica.lines).toHaveBeenLastCalledWith(expect.stringContaining('is back'));
  });

  it('uses the store again for the next request when only one timed out, after it reported that usage', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const single = await call();
    expect([single.status, isDegraded(single)]).toEqual([200, true]);
    await lock.letGo();
    const next = await call();
    expect([remaining(next), isDegraded(next)]).toEqual([57, false]);
    expect(await stored()).toEqual({ minute: 3, day: 3 });
    expect(replica.lines).not.toHaveBeenCalled();
  });
});

describe('a replica whose connection to the counter store is cut', () => {
  it('serves a request in flight and does not report it, as its outcome is unknown', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const cut = call();
    await eventually(() => expectLocksWaitedFor(database, 1));
    replica.proxy.goAway();
    expect(isDegraded(await cut)).toBe(true);
    expect(await callTimes(3).then(served)).toBe(3);
    // The server completes the query although its client is gone.
    await lock.letGo();
    await until(async () => (await stored())?.minute === 2);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 5, day: 5 });
  });

  it('reports nothing before the store has responded again, so that no usage is lost', async () => {
    await call();
    const lock = await hold(database.url, 'LOCK TABLE rate_limit_counters');
    await callTimes(8);
    const [backend] = await database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE application_name = 'animal-store counters' AND datname = current_database()`,
    );
    const pid = (backend as { pid: number }).pid;
    // The server receives a query and does not reply.
    process.kill(pid, 'SIGSTOP');
    try {
      await lock.letGo();
      const others = await replica.app.issue({ plan: 'business' });
      await until(async () => !isDegraded(await call(replica, others)));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await stored()).toEqual({ minute: 9, day: 9 });
  });

  it('does not report usage twice when the connection is cut during a report', async () => {
    await call();
    replica.proxy.goAway();
    await callTimes(5);
    const lock = await hold(database.url, lockRow());
    await replica.proxy.comeBack();
    await eventually(() => expectLocksWaitedFor(database, 1));
    replica.proxy.goAway();
    await lock.letGo();
    await until(async () => (await stored())?.minute === 6);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 6, day: 6 });
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
