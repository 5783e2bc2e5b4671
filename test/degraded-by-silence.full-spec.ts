import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { CounterStore } from '../src/rate-limit/stores/counter-store.js';
import { SHARED_COUNTER_STORE } from '../src/rate-limit/stores/fallback-counter-store.js';
import { until } from './support/eventually.js';
import { hold } from './support/holding.js';
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
} from './support/counting-replicas.js';
import { send } from './support/http.js';

/** What a request may wait for a store that hangs: the deadline, and what a busy machine takes for the rest. */
const WAIT_MS = 750 + 400;
async function countingWaits(): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE application_name = 'animal-store counters'
     AND datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** Keeps this process from everything else. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Nothing: that is the point.
  }
}

const lockRow = ({ quotaId } = key) =>
  `SELECT 1 FROM rate_limit_counters WHERE subject = 'quota:${quotaId}' FOR UPDATE`;

startForEach();

describe('while the counter store hangs', () => {
  it('a request waits no longer than the deadline, after three questions not at all; what may have counted is not added', async () => {
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
    // The first was asked, and nobody knows what became of it; for those after it there was no connection to ask by.
    expect(await stored()).toEqual({ minute: 17, day: 17 });
    expect(replica.lines).toHaveBeenCalledTimes(2);
  });

  it('who asks where a key stands waits for one question too, and is told what is known here', async () => {
    await callTimes(10);
    replica.proxy.hang();
    const { ms, result } = await timed(() => send(`${replica.app.url}/v1/rate-limit`, { key: key.key }));
    expect(result.status).toBe(200);
    expect(result.json.windows).toMatchObject([{ remaining: 50 }, { remaining: 990 }]);
    expect(isDegraded(result)).toBe(true);
    expect(ms).toBeLessThan(WAIT_MS);
  });

  it('those who gathered behind the question wait no longer than it does, and are added', async () => {
    await call();
    replica.proxy.hang();
    const take = jest.spyOn(replica.app.app.get<CounterStore>(SHARED_COUNTER_STORE), 'consume');
    const first = call();
    await until(() => take.mock.calls.length === 1);
    const { ms, result } = await timed(() => callAtOnce(9));
    expect(served([await first, ...result])).toBe(10);
    expect(ms).toBeLessThan(WAIT_MS);
    await callTimes(6);
    await replica.proxy.comeBack();
    await recovered();
    // Of the ten one was asked for; nine were not.
    expect(await stored()).toEqual({ minute: 1 + 9 + 6, day: 1 + 9 + 6 });
  });

  it('as a locked table has it, the server says itself that nothing was counted, and all is added', async () => {
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

  it('but says that it is there, is told of as away once, and as back once it counts', async () => {
    const full = await replica.app.issue({ plan: 'enterprise', perMinute: 5, perDay: 1000 });
    const asked = jest.spyOn(replica.app.app.get<CounterStore>(SHARED_COUNTER_STORE), 'consume');
    await callTimes(5, replica, full);
    const lock = await hold(database.url, lockRow(full));
    await callTimes(3, replica, full);
    expect(replica.lines).toHaveBeenCalledTimes(1);
    asked.mockClear();
    // Nothing is to be added, so nothing but counting can show that it does not count.
    await until(async () => {
      const { status, headers } = await call(replica, full);
      expect([status, headers.get('x-ratelimit-degraded')]).toEqual([429, 'true']);
      return asked.mock.calls.length > 2;
    });
    expect(replica.lines).toHaveBeenCalledTimes(1);
    await lock.letGo();
    await until(async () => !isDegraded(await call(replica, full)));
    expect(replica.lines).toHaveBeenCalledTimes(2);
    expect(replica.lines).toHaveBeenLastCalledWith(expect.stringContaining('is back'));
  });

  it('for one question alone, the next goes to the store, after what was allowed is added', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const alone = await call();
    expect([alone.status, isDegraded(alone)]).toEqual([200, true]);
    await lock.letGo();
    const next = await call();
    expect([remaining(next), isDegraded(next)]).toEqual([57, false]);
    expect(await stored()).toEqual({ minute: 3, day: 3 });
    expect(replica.lines).not.toHaveBeenCalled();
  });
});

describe('a connection that is cut under a question', () => {
  it('leaves open whether that counted: it is served, and not added', async () => {
    await call();
    const lock = await hold(database.url, lockRow());
    const cut = call();
    await until(countingWaits);
    replica.proxy.goAway();
    expect(isDegraded(await cut)).toBe(true);
    expect(await callTimes(3).then(served)).toBe(3);
    // The server, which nobody listens to, carries it out.
    await lock.letGo();
    await until(async () => (await stored())?.minute === 2);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 5, day: 5 });
  });

  it('is not told anything before it has shown that it answers, so that nothing is lost', async () => {
    await call();
    const lock = await hold(database.url, 'LOCK TABLE rate_limit_counters');
    await callTimes(8);
    const [backend] = await database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE application_name = 'animal-store counters' AND datname = current_database()`,
    );
    const pid = (backend as { pid: number }).pid;
    // It takes a question, and answers none.
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

  it('when that told what was allowed, does not have it told twice', async () => {
    await call();
    replica.proxy.goAway();
    await callTimes(5);
    const lock = await hold(database.url, lockRow());
    await replica.proxy.comeBack();
    await until(countingWaits);
    replica.proxy.goAway();
    await lock.letGo();
    await until(async () => (await stored())?.minute === 6);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 6, day: 6 });
  });
});

describe('a replica that was paused itself', () => {
  it.each([300, 1000])(
    'for %i ms while a question is under way takes the answer that came',
    async (pauseMs) => {
      await call();
      const holder = new pg.Client({ connectionString: database.url });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query(lockRow());
      const letGo = holder.query('SELECT pg_sleep(0.2); COMMIT');
      const answer = call();
      await until(countingWaits);
      block(pauseMs);
      const { status, headers } = await answer;
      expect([status, headers.get('x-ratelimit-degraded')]).toEqual([200, null]);
      await letGo;
      await holder.end();
    },
  );

  it.each([300, 1000])('for %i ms while it connects goes on connecting', async (pauseMs) => {
    const store = replica.app.app.get(CounterStore);
    const decision = store.consume({ bucketKey: 'quota:x', perMinute: 60, perDay: 1000 });
    await nextTurn();
    block(pauseMs);
    expect((await decision).degraded).toBe(false);
  });
});
