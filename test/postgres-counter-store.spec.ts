import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { isDatabaseUnavailable } from '../src/database/availability.js';
import { PrismaService } from '../src/database/prisma.service.js';
import { readEnvironment } from '../src/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import { PostgresCounterStore } from '../src/rate-limit/stores/postgres-counter-store.js';
import { TestClock } from './support/clock.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { eventually, until } from './support/eventually.js';
import { hold } from './support/holding.js';
import { fakeIntervals } from './support/intervals.js';
import { expectLocksWaitedFor } from './support/locks.js';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2027, 2, 5, 12);

let database: TestDatabase;
let clock: TestClock;
let store: PostgresCounterStore;
let stores: PostgresCounterStore[];
let subjects = 0;

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await createDatabase();
});
afterAll(() => database.drop());

beforeEach(() => {
  stores = [];
  clock = new TestClock();
  clock.travelToMinuteStart();
  store = open();
});
afterEach(async () => {
  await Promise.all(stores.map((each) => each.onApplicationShutdown()));
  await database.query('DELETE FROM rate_limit_counters');
});

/** The counter store of one more replica. */
function open(itsClock = clock): PostgresCounterStore {
  const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
  const opened = new PostgresCounterStore(environment, itsClock);
  stores.push(opened);
  return opened;
}

/** A subject that nobody has counted yet. */
function newSubject(perMinute = 60, perDay: number | null = 1000): RateLimitRequest {
  subjects += 1;
  return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
}

/** So many asks at once, spread over the stores in turn. */
function takeAtOnce(ask: RateLimitRequest, count: number, from = [store]): Promise<RateLimitDecision[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      (from[index % from.length] as PostgresCounterStore).consume(ask),
    ),
  );
}

const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);
const allowed = (decisions: RateLimitDecision[]) => decisions.filter((decision) => decision.allowed);

/** What is stored of a subject. */
async function counterOf({ bucketKey }: RateLimitRequest): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query(
    `SELECT minute, minute_used, day, day_used, asked, granted, refused, refusals, banned_until, ban_step
     FROM rate_limit_counters WHERE subject = $1`,
    [bucketKey],
  );
  return row;
}

/** The processes of the database that serve the counting connections. */
async function countingBackends(): Promise<{ pid: number }[]> {
  return database.query(
    `SELECT pid FROM pg_stat_activity
     WHERE application_name = 'animal-store counters' AND datname = current_database()`,
  );
}

/** Whether the store waits for somebody else's lock. */
async function isWaiting(): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'animal-store %'
     AND datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** Runs what happens while another connection holds a transaction open, which is committed afterwards. */
async function holding(during: (holder: pg.Client) => Promise<void>): Promise<void> {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await during(holder);
    await holder.query('COMMIT');
  } finally {
    await holder.end();
  }
}

/** Asks while another connection holds what this statement has written, which is committed once the asks wait for it. */
async function whileHeld<T>(statement: string, values: unknown[], asking: () => Promise<T>): Promise<T> {
  let held: Promise<T> | undefined;
  await holding(async (holder) => {
    await holder.query(statement, values);
    held = asking();
    await until(isWaiting);
  });
  return held as Promise<T>;
}

/** Has the subject send until it is banned, within this minute. */
async function provoke(ask: RateLimitRequest): Promise<RateLimitDecision> {
  const starter = (await takeAtOnce(ask, ask.perMinute * 2)).at(-1) as RateLimitDecision;
  expect(starter.ban).toEqual({ untilMs: expect.any(Number), started: true });
  return starter;
}

/** What each was told: allowed, how many refusals remain, or the ban. */
function told({ allowed: yes, refusalsUntilBan, ban }: RateLimitDecision): string {
  if (ban !== null) {
    return ban.started ? 'starts a ban' : 'banned';
  }
  return yes ? 'allowed' : `refused, ${refusalsUntilBan ?? 'no'} until a ban`;
}

const times = (count: number, text: string) => Array<string>(count).fill(text);
const lengthMs = ({ ban, nowMs }: RateLimitDecision) => (ban === null ? null : ban.untilMs - nowMs);
const endOf = ({ ban }: RateLimitDecision) => new Date(ban?.untilMs ?? 0);

describe('a question that a lock held up', () => {
  it("grants nothing beyond the limit to a question that a lock held up across the minute's edge", async () => {
    clock.travelTo(new Date(NOON + 59_000));
    const ask = newSubject(5, 100);
    await store.consume(ask);
    let held: Promise<RateLimitDecision> | undefined;
    await holding(async (holder) => {
      await holder.query(
        'UPDATE rate_limit_counters SET minute = minute + 1, minute_used = 5, day_used = 6 WHERE subject = $1',
        [ask.bucketKey],
      );
      held = store.consume(ask);
      await until(isWaiting);
    });
    const decision = (await held) as RateLimitDecision;
    expect(decision.allowed).toBe(false);
    expect(remaining(decision)).toEqual([0, 94]);
    expect(decision.windows[0]?.resetSeconds).toBe((NOON + 2 * MINUTE_MS) / 1000);
    expect(decision.nowMs).toBe(NOON + MINUTE_MS);
    expect(await counterOf(ask)).toMatchObject({ minute: NOON / MINUTE_MS + 1, minute_used: 5, day_used: 6 });
  });

  it("grants what is left to a question that a lock held up across the minute's edge", async () => {
    clock.travelTo(new Date(NOON + 59_000));
    const ask = newSubject(5, 100);
    await store.consume(ask);
    let held: Promise<RateLimitDecision[]> | undefined;
    await holding(async (holder) => {
      await holder.query(
        'UPDATE rate_limit_counters SET minute = minute + 1, minute_used = 3, day_used = 4 WHERE subject = $1',
        [ask.bucketKey],
      );
      held = takeAtOnce(ask, 4);
      await until(isWaiting);
    });
    expect(allowed((await held) ?? [])).toHaveLength(2);
    expect(await counterOf(ask)).toMatchObject({ minute: NOON / MINUTE_MS + 1, minute_used: 5, day_used: 6 });
  });

  it('meets the ban that was started meanwhile, and changes nothing of it', async () => {
    const ask = newSubject(5, 100_000);
    await takeAtOnce(ask, 5);
    const end = new Date(NOON + HOUR_MS);
    const decisions = await whileHeld(
      'UPDATE rate_limit_counters SET refusals = 0, banned_until = $2, ban_step = 3 WHERE subject = $1',
      [ask.bucketKey, end],
      () => takeAtOnce(ask, 20),
    );
    expect(decisions.map(told)).toEqual(times(20, 'banned'));
    expect(decisions.map(endOf)).toEqual(decisions.map(() => end));
    expect(await counterOf(ask)).toMatchObject({ refusals: 0, banned_until: end, ban_step: 3 });
  });

  it("across the minute's edge adds to the refusals of the later minute, and a ban lasts from there", async () => {
    clock.travelTo(new Date(NOON + 55 * SECOND_MS));
    const ask = newSubject(5, 100_000);
    await takeAtOnce(ask, 5);
    const decisions = await whileHeld(
      'UPDATE rate_limit_counters SET minute = minute + 1, refusals = 2 WHERE subject = $1',
      [ask.bucketKey],
      () => takeAtOnce(ask, 4),
    );
    expect(decisions.map(told)).toEqual([
      'refused, 2 until a ban',
      'refused, 1 until a ban',
      'starts a ban',
      'banned',
    ]);
    expect(endOf(decisions[2] as RateLimitDecision)).toEqual(new Date(NOON + 2 * MINUTE_MS));
    expect(lengthMs(decisions[2] as RateLimitDecision)).toBe(MINUTE_MS);
  });
});

describe('lifting a ban', () => {
  it('ends the ban that it finds once it has waited for the row', async () => {
    const ask = newSubject(5, 100_000);
    const starter = await provoke(ask);
    const meanwhile = new Date(endOf(starter).getTime() + DAY_MS);
    const lifted = await whileHeld(
      'UPDATE rate_limit_counters SET banned_until = $2 WHERE subject = $1',
      [ask.bucketKey, meanwhile],
      () => store.liftBan(ask.bucketKey),
    );
    expect(lifted).toEqual(meanwhile);
    expect(await store.bans()).toEqual(new Map());
  });
});

describe('a row that somebody holds', () => {
  it('is named by the failure of the question that waited for it', async () => {
    const ask = newSubject();
    await store.consume(ask);
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE', [ask.bucketKey]);
      await expect(store.consume(ask)).rejects.toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(
          /statement timeout \(while locking tuple \(\d+,\d+\) in relation "rate_limit_counters"\)/,
        ),
      });
    });
  });

  it('cannot have its ban lifted, which is told soon and keeps nobody from other bans', async () => {
    const [held, other] = [newSubject(1), newSubject(1)];
    const [ban] = [await provoke(held), await provoke(other)];
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE', [held.bucketKey]);
      const lifting = store.liftBan(held.bucketKey).catch((error: unknown) => error);
      await until(isWaiting);
      expect(await store.bans()).toHaveProperty('size', 2);
      expect(await store.liftBan(other.bucketKey)).not.toBeNull();
      const reason = await lifting;
      expect(isDatabaseUnavailable(reason)).toBe(true);
      expect(reason).toHaveProperty('message', expect.stringContaining('lock timeout'));
    });
    expect(await store.bans()).toEqual(new Map([[held.bucketKey, endOf(ban)]]));
  });

  it('as a table that nothing is removed from meanwhile, leaves the sweep waiting, and bans are told', async () => {
    await provoke(newSubject(1));
    let sweep: Promise<unknown> | undefined;
    await holding(async (holder) => {
      await holder.query('LOCK TABLE rate_limit_counters IN SHARE MODE');
      sweep = store.sweep();
      await until(isWaiting);
      expect(await store.bans()).toHaveProperty('size', 1);
      // Longer than any question may wait.
      await holder.query('SELECT pg_sleep(0.8)');
      expect(await isWaiting()).toBe(true);
    });
    await sweep;
  });
});

describe('PostgresCounterStore.take', () => {
  let queries: jest.SpyInstance;

  beforeEach(() => {
    queries = jest.spyOn(pg.Client.prototype, 'query');
  });
  afterEach(() => queries.mockRestore());

  /** The names of the prepared statements that were run since it was last asked. */
  function statements(): string[] {
    const names = queries.mock.calls.map(([query]: [{ name?: string }]) => query.name);
    queries.mockClear();
    return names.flatMap((name) => name?.replace(/-[0-9a-f]{12}$/, '') ?? []);
  }

  it('runs one cheap statement while every bucket has room, whether it is new, known or in a new minute', async () => {
    clock.travelTo(new Date(NOON));
    const [first, second] = [newSubject(5), newSubject(5, null)];
    await store.consume(first);
    expect(statements()).toEqual(['allow-one']);
    const together = await Promise.all([...takeThrice(first), ...takeThrice(second)]);
    expect(together.map(remaining)).toEqual([[3, 998], [2, 997], [1, 996], [4], [3], [2]]);
    expect(statements()).toEqual(['allow']);
    clock.travelTo(new Date(NOON + MINUTE_MS));
    expect((await Promise.all(takeThrice(first))).map(remaining)).toEqual([
      [4, 995],
      [3, 994],
      [2, 993],
    ]);
    expect(statements()).toEqual(['allow-one']);
  });

  it('runs the full statement for what lacks room, and no other for a bucket that lacked it last', async () => {
    clock.travelTo(new Date(NOON));
    const [full, free] = [newSubject(2), newSubject(20)];
    expect((await Promise.all([...takeThrice(full), store.consume(free)])).map(told)).toEqual([
      'allowed',
      'allowed',
      'refused, 1 until a ban',
      'allowed',
    ]);
    expect(statements()).toEqual(['allow', 'consume']);
    expect((await Promise.all([store.consume(free), store.consume(full)])).map(told)).toEqual([
      'allowed',
      'starts a ban',
    ]);
    expect(statements()).toEqual(['consume']);
    await store.consume(free);
    await store.consume(free);
    expect(statements()).toEqual(['allow-one', 'allow-one']);
  });

  it('keeps what it allowed when the statement for the rest of the batch fails', async () => {
    const [full, free] = [newSubject(1), newSubject()];
    await store.consume(full);
    await database.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
       CREATE TRIGGER fail BEFORE UPDATE ON rate_limit_counters
         FOR EACH ROW WHEN (NEW.granted = 0) EXECUTE FUNCTION fail()`,
    );
    const outcomes = await Promise.allSettled([store.consume(free), store.consume(full)]);
    await database.query('DROP FUNCTION fail CASCADE');
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: { allowed: true } },
      { status: 'rejected', reason: { kind: 'failed' } },
    ]);
    expect(await counterOf(free)).toMatchObject({ minute_used: 1, day_used: 1 });
  });

  const takeThrice = (ask: RateLimitRequest) => Array.from({ length: 3 }, () => store.consume(ask));
});

describe('many at once', () => {
  it('take their rows in the order of their subjects, whatever the order of the asks', async () => {
    const [first, second, third] = [newSubject(), newSubject(), newSubject()].toSorted((a, b) =>
      a.bucketKey.localeCompare(b.bucketKey),
    ) as [RateLimitRequest, RateLimitRequest, RateLimitRequest];
    await Promise.all([first, second, third].map((ask) => store.consume(ask)));
    let held: Promise<RateLimitDecision[]> | undefined;
    await holding(async (holder) => {
      const lock = 'SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE NOWAIT';
      await holder.query(lock, [first.bucketKey]);
      held = Promise.all([newSubject(), third, second, first].map((ask) => store.consume(ask)));
      await until(isWaiting);
      // Who waits for the first has none of the others yet.
      await holder.query(lock, [second.bucketKey]);
      await holder.query(lock, [third.bucketKey]);
    });
    expect(allowed((await held) ?? [])).toHaveLength(4);
  });

  it('never wait for each other in a circle, though two replicas name the same subjects in opposite order', async () => {
    const known = Array.from({ length: 60 }, () => newSubject(1000, 1000));
    const other = open();
    // A first ask each goes at once and alone; the rest gather behind it, all subjects in one question.
    const rounds = await Promise.all(
      Array.from({ length: 20 }, () => [
        ...known.map((ask) => store.consume(ask)),
        ...known.toReversed().map((ask) => other.consume(ask)),
      ]).flat(),
    );
    expect(allowed(rounds)).toHaveLength(60 * 20 * 2);
    for (const ask of known) {
      expect(await counterOf(ask)).toMatchObject({ minute_used: 40, day_used: 40 });
    }
  });

  it('never wait in a circle over many questions in a row, half of them of new subjects', async () => {
    const replicas = [store, open()];
    for (let round = 0; round < 15; round += 1) {
      const asks = Array.from({ length: 30 }, () => newSubject());
      const decisions = await Promise.all(
        replicas.flatMap((replica, index) =>
          (index === 0 ? asks : asks.toReversed()).flatMap((ask) => [
            replica.consume(ask),
            replica.consume(ask),
          ]),
        ),
      );
      expect(allowed(decisions)).toHaveLength(120);
    }
  });
});

describe('a row', () => {
  it('tells what the last question asked, was granted and was refused', async () => {
    const ask = newSubject(5, 100);
    await takeAtOnce(ask, 7);
    await Promise.all([store.consume(newSubject()), ...Array.from({ length: 12 }, () => store.consume(ask))]);
    expect(await counterOf(ask)).toMatchObject({ asked: 12, granted: 0, refused: 3 });
  });
});

describe('the connection', () => {
  it('that counts waits for no disk; the one that keeps animals does', async () => {
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 1 });
    try {
      const counting = await store['connection']();
      expect((await counting.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
      expect(await prisma.$queryRaw`SHOW synchronous_commit`).toEqual([{ synchronous_commit: 'on' }]);
    } finally {
      await prisma.$disconnect();
    }
  });

  it('tries a question again that met another transaction, and counts it once', async () => {
    const ask = newSubject(60, 1000);
    await store.consume(ask);
    const counting = await store['connection']();
    // As a pooler may have it.
    await counting.query("SET default_transaction_isolation = 'repeatable read'");
    const holder = await hold(
      database.url,
      `UPDATE rate_limit_counters SET minute_used = 10, day_used = 10 WHERE subject = '${ask.bucketKey}'`,
    );
    const taken = store.consume(ask);
    await eventually(() => expectLocksWaitedFor(database, 1));
    await holder.letGo();
    expect(await taken).toMatchObject({ allowed: true, degraded: false });
    expect(await counterOf(ask)).toMatchObject({ day_used: 11 });
    await counting.query("SET default_transaction_isolation = 'read committed'");
  });

  it('that was lost is made anew: the next question is answered, and the counts are kept', async () => {
    const ask = newSubject(60, 1000);
    await store.consume(ask);
    const [backend] = await countingBackends();
    await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
    await until(async () => (await countingBackends()).length === 0);
    // What the server said last has arrived; it is read within this turn of the event loop.
    await nextTurn();
    expect(remaining(await store.consume(ask))).toEqual([58, 998]);
  });

  it('that was lost under a question fails those who wait for its answer or behind it, and the next is answered', async () => {
    const ask = newSubject(60, 1000);
    await store.consume(ask);
    let outcomes: Promise<PromiseSettledResult<RateLimitDecision>[]> | undefined;
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE', [ask.bucketKey]);
      // The first is under way and waits for the lock; the second is gathered behind it.
      const first = store.consume(ask);
      await until(isWaiting);
      outcomes = Promise.allSettled([first, store.consume(newSubject(5, 50))]);
      const [backend] = await countingBackends();
      await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
      await outcomes;
    });
    const [lost, gathered] = (await outcomes) ?? [];
    expect(lost?.status === 'rejected' && isDatabaseUnavailable(lost.reason)).toBe(true);
    expect([lost, gathered]).toMatchObject([
      { reason: { kind: 'outcomeUnknown' } },
      { reason: { kind: 'notSent' } },
    ]);
    expect(remaining(await store.consume(ask))).toEqual([58, 998]);
  });

  it('that may only read is given up: by its successor, which may write, all is counted again', async () => {
    const ask = newSubject(60, 1000);
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await expect(store.consume(ask)).rejects.toMatchObject({ kind: 'failed', code: '25006' });
    await database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect(remaining(await store.consume(ask))).toEqual([59, 999]);
  });

  it('has one question at a time: what waits behind one that is not answered was surely not asked', async () => {
    await store.consume(newSubject());
    const [hanging] = await countingBackends();
    const pid = (hanging as { pid: number }).pid;
    process.kill(pid, 'SIGSTOP');
    try {
      const outcomes = await Promise.allSettled([store.reconcile([]), store.peek(newSubject())]);
      expect(outcomes).toMatchObject([
        { reason: { kind: 'outcomeUnknown' } },
        { reason: { kind: 'failed' } },
      ]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it('that hangs is given up within a second, and only its successor is left', async () => {
    const ask = newSubject(60, 1000);
    await store.consume(ask);
    const [hanging] = await countingBackends();
    const pid = (hanging as { pid: number }).pid;
    process.kill(pid, 'SIGSTOP');
    try {
      const reason = await store.consume(ask).catch((error: unknown) => error);
      expect(reason).toMatchObject({ kind: 'outcomeUnknown' });
      expect(isDatabaseUnavailable(reason)).toBe(true);
      expect(remaining(await store.consume(ask))).toEqual([58, 998]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => !(await countingBackends()).some((backend) => backend.pid === pid));
    await store.consume(ask);
    expect(await countingBackends()).toHaveLength(1);
  });
});

describe('the end of the process', () => {
  it('does not wait for a server that says nothing', async () => {
    const ending = stores.pop() as PostgresCounterStore;
    await ending.consume(newSubject());
    const [hanging] = await countingBackends();
    const pid = (hanging as { pid: number }).pid;
    process.kill(pid, 'SIGSTOP');
    try {
      const start = performance.now();
      await ending.onApplicationShutdown();
      expect(performance.now() - start).toBeLessThan(2 * SECOND_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});

describe('the sweep', () => {
  /** A row as it would be stored, last counted so long ago. */
  async function stored(ask: RateLimitRequest, agoMs: number): Promise<string> {
    const at = clock.now() - agoMs;
    await database.query(
      `INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, day_limit, granted)
       VALUES ($1, $2, 1, $3, $4, 1, $5, 1)`,
      [ask.bucketKey, Math.floor(at / MINUTE_MS), ask.perMinute, Math.floor(at / DAY_MS), ask.perDay],
    );
    return ask.bucketKey;
  }

  async function subjectsLeft(): Promise<string[]> {
    const rows = await database.query<{ subject: string }>('SELECT subject FROM rate_limit_counters');
    return rows.map(({ subject }) => subject).toSorted();
  }

  beforeEach(async () => {
    await database.query('DELETE FROM rate_limit_counters');
    clock.travelTo(new Date(Date.UTC(2027, 2, 5, 12, 0, 5)));
  });

  it("removes strangers' rows after ten minutes", async () => {
    const kept = [
      await stored(newSubject(300, null), 0),
      await stored(newSubject(300, null), 10 * MINUTE_MS),
    ];
    await stored(newSubject(300, null), 11 * MINUTE_MS);
    await stored(newSubject(300, null), 30 * DAY_MS);
    await store.sweep();
    expect(await subjectsLeft()).toEqual(kept.toSorted());
  });

  it("removes quotas' rows after two days, whose day still counts until then", async () => {
    const kept = [await stored(newSubject(), 11 * MINUTE_MS), await stored(newSubject(), DAY_MS)];
    await stored(newSubject(), 2 * DAY_MS);
    await stored(newSubject(), 30 * DAY_MS);
    await store.sweep();
    expect(await subjectsLeft()).toEqual(kept.toSorted());
  });

  it('skips a row that somebody is counting on, rather than wait for it', async () => {
    const locked = await stored(newSubject(), 30 * DAY_MS);
    await stored(newSubject(), 30 * DAY_MS);
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE', [locked]);
      await store.sweep();
      expect(await subjectsLeft()).toEqual([locked]);
    });
    await store.sweep();
    expect(await subjectsLeft()).toEqual([]);
  });

  it('removes so many rows at once and says that there are more, until there are none', async () => {
    await database.query(
      `INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, granted)
       SELECT 'address:' || n, 0, 1, 300, 0, 1, 1 FROM generate_series(1, 7000) AS n`,
    );
    expect(await store.sweep()).toBe(true);
    expect(await subjectsLeft()).toHaveLength(2000);
    expect(await store.sweep()).toBe(false);
    expect(await subjectsLeft()).toEqual([]);
  });

  it('happens every minute, by itself', async () => {
    await stored(newSubject(), 30 * DAY_MS);
    fakeIntervals();
    store.onModuleInit();
    jest.advanceTimersByTime(MINUTE_MS);
    jest.useRealTimers();
    await eventually(async () => expect(await subjectsLeft()).toEqual([]));
  });

  it('that waits for a lock is not waited for at the end, and no fault of it is told', async () => {
    const ending = stores.pop() as PostgresCounterStore;
    const warn = jest.spyOn(ending['logger'], 'warn').mockImplementation();
    await holding(async (holder) => {
      await holder.query('LOCK TABLE rate_limit_counters IN SHARE MODE');
      fakeIntervals();
      ending.onModuleInit();
      jest.advanceTimersByTime(MINUTE_MS);
      jest.useRealTimers();
      await until(isWaiting);
      const start = performance.now();
      await ending.onApplicationShutdown();
      expect(performance.now() - start).toBeLessThan(SECOND_MS);
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it('takes nothing from anybody: who comes back begins anew', async () => {
    const ask = newSubject(5, 5);
    await takeAtOnce(ask, 5);
    await store.sweep();
    expect((await store.consume(ask)).allowed).toBe(false);
    clock.travel(3 * DAY_MS);
    await store.sweep();
    expect(await subjectsLeft()).toEqual([]);
    expect(remaining(await store.consume(ask))).toEqual([4, 4]);
  });
});

describe('the sweep of bans', () => {
  /** A row whose windows are long over, with a ban that ended so long ago. */
  async function stored(name: string, step: number, endedAgoMs: number): Promise<string> {
    const at = clock.now() - 40 * DAY_MS;
    await database.query(
      `INSERT INTO rate_limit_counters
         (subject, minute, minute_used, minute_limit, day, day_used, day_limit, granted, banned_until, ban_step)
       VALUES ($1, $2, 1, 5, $3, 1, 100, 1, $4, $5)`,
      [name, Math.floor(at / MINUTE_MS), Math.floor(at / DAY_MS), new Date(clock.now() - endedAgoMs), step],
    );
    return name;
  }

  it('keeps a row that carries a ban, or a step of the ladder that has not yet fallen to the ground', async () => {
    const kept = [
      await stored('quota:banned', 1, -DAY_MS),
      await stored('quota:on-step-one', 1, DAY_MS - 10 * SECOND_MS),
      await stored('quota:on-step-four', 4, 4 * DAY_MS - 10 * SECOND_MS),
    ];
    await stored('quota:fallen-from-one', 1, DAY_MS);
    await stored('quota:fallen-from-four', 4, 4 * DAY_MS);
    await store.sweep();
    const left = await database.query<{ subject: string }>('SELECT subject FROM rate_limit_counters');
    expect(left.map(({ subject }) => subject).toSorted()).toEqual(kept.toSorted());
  });

  it('takes no step from anybody: who comes back after days goes on where the ladder is', async () => {
    const ask = newSubject(5, 100_000);
    for (let step = 1; step <= 4; step += 1) {
      const starter = await provoke(ask);
      clock.travelTo(new Date(Math.ceil(endOf(starter).getTime() / MINUTE_MS) * MINUTE_MS));
    }
    clock.travel(3 * DAY_MS);
    await store.sweep();
    expect(lengthMs(await provoke(ask))).toBe(5 * MINUTE_MS);
    clock.travel(10 * DAY_MS);
    await store.sweep();
    expect(await counterOf(ask)).toBeUndefined();
    expect(lengthMs(await provoke(ask))).toBe(MINUTE_MS);
  });
});
