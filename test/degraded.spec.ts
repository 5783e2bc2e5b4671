import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { CounterStore } from '../src/rate-limit/counter-store.js';
import { DegradingCounterStore, SHARED_COUNTER_STORE } from '../src/rate-limit/degrading-counter-store.js';
import type { PostgresCounterStore } from '../src/rate-limit/postgres-counter-store.js';
import { startApplication, type TestApplication } from './support/application.js';
import { ban } from './support/bans.js';
import { TestClock } from './support/clock.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.js';
import { until } from './support/eventually.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { hold } from './support/holding.js';
import { type Answer, send } from './support/http.js';

/** What a request may wait for a store that hangs: the deadline, and what a busy machine takes for the rest. */
const WAIT_MS = 750 + 400;
/** Much less than any deadline. */
const AT_ONCE_MS = 300;
const RECOVERY_MS = 2000;
const STRANGER_LIMIT = 5;

/** The clock of a replica that is five minutes ahead. Its store's is right. */
class ClockAhead extends TestClock {
  override now(): number {
    return super.now() + 300_000;
  }
}

/** A replica whose way to the counters, and to nothing else, can be cut. */
interface Replica {
  app: TestApplication;
  proxy: DatabaseProxy;
  /** The log lines of its counting. */
  lines: jest.SpyInstance;
  close(): Promise<void>;
}

let database: TestDatabase;
let replicas: Replica[];
let replica: Replica;
let key: IssuedKey;

beforeEach(async () => {
  database = await createDatabase();
  replicas = [];
  replica = await startReplica();
  key = await replica.app.issue();
});
afterEach(async () => {
  await Promise.all(replicas.map((each) => each.close()));
  await database.drop();
});

async function startReplica(clock = new TestClock()): Promise<Replica> {
  const proxy = await startDatabaseProxy(database.url);
  const app = await startApplication({ database, environment: { STRANGER_LIMIT }, clock });
  const store = app.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
  jest.replaceProperty(
    store as unknown as { environment: object },
    'environment',
    Object.assign({}, store['environment'], { DATABASE_URL: proxy.url }),
  );
  const lines = jest.spyOn(app.app.get(DegradingCounterStore)['logger'], 'warn').mockImplementation();
  const close = async () => {
    await app.close();
    proxy.close();
  };
  const started = { app, proxy, lines, close };
  replicas.push(started);
  return started;
}

const call = (from = replica, { key: its }: { key?: string } = key) =>
  send(`${from.app.url}/v1/pets`, { key: its });
const callAtOnce = (count: number, from = replica, its?: { key?: string }) =>
  Promise.all(Array.from({ length: count }, () => call(from, its)));

async function callTimes(count: number, from = replica, its?: { key?: string }): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    answers.push(await call(from, its));
  }
  return answers;
}

const isDegraded = ({ headers }: Answer) => headers.get('x-ratelimit-degraded') === 'true';
const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));
const served = (answers: Answer[]) => answers.filter(({ status }) => status === 200).length;
const descending = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** What is stored of the windows of a key's quota. */
async function stored({ quotaId } = key): Promise<{ minute: number; day: number } | undefined> {
  const [row] = await database.query<{ minute: number; day: number }>(
    'SELECT minute_used AS minute, day_used AS day FROM rate_limit_counters WHERE subject = $1',
    [`quota:${quotaId}`],
  );
  return row;
}

/** Has the store refuse connections, once the replica has noticed that its own is gone. */
async function refuse({ app, proxy } = replica): Promise<void> {
  proxy.goAway();
  const store = app.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
  await until(() => store['client'] === null);
}

/** Waits until the store answers again; `others` are asked, so that the key's own counts stay as they are. */
async function recovered(from = replica): Promise<void> {
  const others = await from.app.issue({ plan: 'business' });
  const start = performance.now();
  await until(async () => !isDegraded(await call(from, others)));
  expect(performance.now() - start).toBeLessThan(RECOVERY_MS);
}

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

describe('while the counter store refuses connections', () => {
  it('a quota has what was last known to be left, is told so, and all of it is added when the store is back', async () => {
    expect((await callTimes(10)).map(remaining)).toEqual(descending(59, 50));
    await refuse();
    const answers = await callTimes(53);
    expect(answers.every(isDegraded)).toBe(true);
    expect(served(answers)).toBe(50);
    expect(answers.map(remaining)).toEqual([...descending(49, 0), 0, 0, 0]);
    for (const answer of answers) {
      expectRateLimitHeaders(answer);
    }
    expectError(answers[52] as Answer, 429, 'rate_limit_exceeded', expect.stringContaining('57 refusals'));
    expect(await stored()).toEqual({ minute: 10, day: 10 });

    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 60, day: 60 });
    const after = await call();
    expectError(after, 429, 'rate_limit_exceeded');
    expect(isDegraded(after)).toBe(false);
  });

  it('no request waits for it, not even the first', async () => {
    await call();
    await refuse();
    for (let sent = 0; sent < 5; sent += 1) {
      const { ms, result } = await timed(() => call());
      expect([result.status, isDegraded(result)]).toEqual([200, true]);
      expect(ms).toBeLessThan(AT_ONCE_MS);
    }
  });

  it('a quota that was never seen has a full window', async () => {
    await refuse();
    const answers = await callAtOnce(70);
    expect(answers.every(isDegraded)).toBe(true);
    expect(served(answers)).toBe(60);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual({ minute: 60, day: 60 });
  });

  it('each replica admits the room that it last knew, and the sum of all is added, beyond the limit', async () => {
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

  it('strangers are held to their limit too', async () => {
    const strangers = await callTimes(2, replica, {});
    expect(strangers.map(remaining)).toEqual([4, 3]);
    await refuse();
    const answers = await callTimes(4, replica, {});
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(answers.map(remaining)).toEqual([2, 1, 0, 0]);
    expect(answers.every(isDegraded)).toBe(true);
    await replica.proxy.comeBack();
    await recovered();
    expect(
      await database.query(`SELECT minute_used FROM rate_limit_counters WHERE day_limit IS NULL`),
    ).toEqual([{ minute_used: STRANGER_LIMIT }]);
  });

  it('a known ban holds, until the same instant', async () => {
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

  it('the minute rolls over by the last time of the store, and the day goes on', async () => {
    const small = await replica.app.issue({ plan: 'enterprise', perMinute: 3, perDay: 5 });
    expect((await callTimes(3, replica, small)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await refuse();
    expectError(await call(replica, small), 429, 'rate_limit_exceeded');
    replica.app.clock.travel(60_000);
    const answers = await callTimes(3, replica, small);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(remaining)).toEqual([1, 0, 0]);
    await replica.proxy.comeBack();
    await recovered();
    expect(await stored(small)).toEqual({ minute: 2, day: 5 });
  });

  describe('and the clock of a replica is five minutes ahead', () => {
    let ahead: Replica;
    beforeEach(async () => {
      ahead = await startReplica(new ClockAhead());
      // Whose start of a minute is that of the store.
      replica.app.clock.storeOffsetMs = ahead.app.clock.storeOffsetMs;
    });

    const secondsToReset = ({ headers }: Answer) =>
      Number(headers.get('x-ratelimit-reset')) - replica.app.clock.now() / 1000;

    it('what it admitted before it ever heard the time of the store is of the minute that is open there', async () => {
      ahead.proxy.goAway();
      expect(served(await callAtOnce(70, ahead))).toBe(60);
      await ahead.proxy.comeBack();
      await recovered(ahead);
      expect(await stored()).toEqual({ minute: 60, day: 60 });
      const refused = await call();
      expectError(refused, 429, 'rate_limit_exceeded');
      expect(secondsToReset(refused)).toBeLessThanOrEqual(60);
      replica.app.clock.travel(60_000);
      expect(remaining(await call())).toBe(59);
    });

    it('a window that is ahead too does not pass for the time of the store', async () => {
      await call(ahead);
      await database.query('UPDATE rate_limit_counters SET minute = minute + 5');
      expect(secondsToReset(await call(ahead))).toBeGreaterThan(240);
      await refuse(ahead);
      const other = await call(ahead, await ahead.app.issue());
      expect(isDegraded(other)).toBe(true);
      expect(secondsToReset(other)).toBeLessThanOrEqual(60);
    });
  });

  it('what is asked of it alone is 503 at once', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    await refuse();
    await call();
    const { ms, result } = await timed(() => send(`${replica.app.url}/admin/keys`, { key: admin.key }));
    expectError(result, 503, 'service_unavailable');
    expectRateLimitHeaders(result);
    expect(ms).toBeLessThan(AT_ONCE_MS);
  });

  it('no deed that would tell of a ban is done, and the 503 says what is away', async () => {
    const admin = await replica.app.issue({ role: 'admin', plan: 'business' });
    await ban(database, key, new Date(replica.app.clock.now() + 60_000));
    const administered = async () => [
      await database.query('SELECT * FROM api_keys ORDER BY id'),
      await database.query('SELECT * FROM quotas ORDER BY id'),
      await database.query('SELECT * FROM audit_entries ORDER BY id'),
      await database.query('SELECT banned_until FROM rate_limit_counters WHERE banned_until IS NOT NULL'),
    ];
    await refuse();
    await call();
    const before = await administered();
    for (const [method, path, body] of [
      ['POST', 'revoke'],
      ['POST', 'unban'],
      ['POST', 'rotate'],
      ['PATCH', '', { plan: 'pro' }],
    ] as const) {
      const url = `${replica.app.url}/admin/keys/${key.id}/${path}`.replace(/\/$/, '');
      const answer = await send(url, { method, key: admin.key, ...(body !== undefined && { body }) });
      expectError(
        answer,
        503,
        'service_unavailable',
        'The counters, which know the bans, are away or overloaded. Try again shortly.',
      );
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(await administered()).toEqual(before);
  });

  it('one line tells that it went, with the reason, and one that it is back', async () => {
    await call();
    await refuse();
    await callTimes(10);
    expect(replica.lines.mock.calls).toEqual([
      [expect.stringMatching(/^The counter store is away, so this replica counts by itself: .*ECONNREFUSED/)],
    ]);
    await replica.proxy.comeBack();
    await recovered();
    expect(replica.lines.mock.calls.slice(1)).toEqual([
      ['The counter store is back, and has been told what this replica admitted meanwhile'],
    ]);
  });
});

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
    const { ms, result } = await timed(() => callAtOnce(10));
    expect(served(result)).toBe(10);
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
    const asked = jest.spyOn(replica.app.app.get<CounterStore>(SHARED_COUNTER_STORE), 'take');
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

  it('for one question alone, the next goes to the store, after what was admitted is added', async () => {
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

  it('when that told what was admitted, does not have it told twice', async () => {
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
    const admission = store.take({ subject: 'quota:x', perMinute: 60, perDay: 1000 });
    await nextTurn();
    block(pauseMs);
    expect((await admission).degraded).toBe(false);
  });
});

describe('a request that cannot be judged, as the keys are away', () => {
  let proxy: DatabaseProxy;
  let store: TestApplication;
  let known: IssuedKey;
  const ask = (its?: string) => send(`${store.url}/v1/pets`, { ...(its !== undefined && { key: its }) });

  beforeEach(async () => {
    proxy = await startDatabaseProxy(database.url);
    store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    known = await store.issue({ plan: 'business' });
    expect(remaining(await ask(known.key))).toBe(999);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    proxy.close();
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
    expect(await stored(known)).toMatchObject({ minute: 1000 - remaining(last) });
  });
});
