import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { isDatabaseUnavailable } from '../src/database/availability.js';
import { PrismaService } from '../src/database/prisma.service.js';
import { readEnvironment } from '../src/environment.js';
import type { Admission } from '../src/rate-limit/admission.js';
import type { Ask } from '../src/rate-limit/counter-store.js';
import { PostgresCounterStore } from '../src/rate-limit/postgres-counter-store.js';
import { TestClock } from './support/clock.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { until } from './support/eventually.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

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
afterEach(() => Promise.all(stores.map((each) => each.onApplicationShutdown())));

/** The counter store of one more replica. */
function open(itsClock = clock): PostgresCounterStore {
  const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
  const opened = new PostgresCounterStore(environment, itsClock);
  stores.push(opened);
  return opened;
}

/** A subject that nobody has counted yet. */
function newSubject(perMinute = 60, perDay: number | null = 1000): Ask {
  subjects += 1;
  return { subject: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
}

/** So many asks at once, spread over the stores in turn. */
function takeAtOnce(ask: Ask, count: number, from = [store]): Promise<Admission[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      (from[index % from.length] as PostgresCounterStore).take(ask),
    ),
  );
}

const remaining = ({ windows }: Admission) => windows.map((window) => window.remaining);
const admitted = (admissions: Admission[]) => admissions.filter((admission) => admission.admitted);
const descending = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

/** What is stored of a subject. */
async function counterOf({ subject }: Ask): Promise<unknown> {
  const [row] = await database.query(
    'SELECT minute, minute_used, day, day_used FROM rate_limit_counters WHERE subject = $1',
    [subject],
  );
  return row;
}

/** The processes of the database that serve the counting connections. */
async function countingBackends(): Promise<{ pid: number; waits: boolean }[]> {
  return database.query(
    `SELECT pid, wait_event_type = 'Lock' AS waits FROM pg_stat_activity
     WHERE application_name = 'animal-store counters' AND datname = current_database()`,
  );
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

describe('a limit', () => {
  it('admits exactly as many of all who ask at once', async () => {
    const ask = newSubject(60, 1000);
    const admissions = await takeAtOnce(ask, 200);
    expect(admitted(admissions)).toHaveLength(60);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 60, day_used: 60 });
  });

  it('admits exactly as many of all who ask two replicas at once', async () => {
    const ask = newSubject(60, 1000);
    const admissions = await takeAtOnce(ask, 200, [store, open()]);
    expect(admitted(admissions)).toHaveLength(60);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 60, day_used: 60 });
  });

  it('of the day admits exactly as many too', async () => {
    const ask = newSubject(1000, 60);
    const admissions = await takeAtOnce(ask, 200, [store, open()]);
    expect(admitted(admissions)).toHaveLength(60);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 60, day_used: 60 });
  });

  it('holds for a subject never seen before, whose first question brings 200 asks', async () => {
    const ask = newSubject(60, 1000);
    const [, ...admissions] = await Promise.all([
      store.take(newSubject()),
      ...Array.from({ length: 200 }, () => store.take(ask)),
    ]);
    expect(admitted(admissions)).toHaveLength(60);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 60, day_used: 60 });
  });

  it("holds for a stranger's first question too", async () => {
    const stranger = newSubject(30, null);
    const [, ...admissions] = await Promise.all([
      store.take(newSubject()),
      ...Array.from({ length: 100 }, () => store.take(stranger)),
    ]);
    expect(admitted(admissions)).toHaveLength(30);
  });

  it('tells each remaining number exactly once, whichever replica is asked', async () => {
    const admissions = admitted(await takeAtOnce(newSubject(60, 1000), 200, [store, open(), open()]));
    const told = admissions.map(remaining).toSorted(([a = 0], [b = 0]) => b - a);
    expect(told).toEqual(descending(59, 0).map((left) => [left, left + 940]));
  });

  it('tells the numbers of one question in the order of its asks, and those refused what is left', async () => {
    const admissions = await takeAtOnce(newSubject(6, 100), 9);
    expect(admissions.map(({ admitted: yes }) => yes)).toEqual([
      ...Array(6).fill(true),
      ...Array(3).fill(false),
    ]);
    expect(admissions.map(remaining)).toEqual([
      ...descending(5, 0).map((left) => [left, left + 94]),
      [0, 94],
      [0, 94],
      [0, 94],
    ]);
  });

  it('is counted for each subject by itself, also where one question has several', async () => {
    const [narrow, wide, stranger] = [newSubject(2, 50), newSubject(100, 3), newSubject(1, null)];
    const admissions = await Promise.all(
      [narrow, wide, stranger, narrow, wide, stranger, narrow, wide, wide].map((ask) => store.take(ask)),
    );
    expect(admissions.map((admission) => [admission.admitted, ...remaining(admission)])).toEqual([
      [true, 1, 49],
      [true, 99, 2],
      [true, 0],
      [true, 0, 48],
      [true, 98, 1],
      [false, 0],
      [false, 0, 48],
      [true, 97, 0],
      [false, 97, 0],
    ]);
  });

  it('that was lowered below what is used leaves nothing remaining, never less; raised again, the rest', async () => {
    const ask = newSubject(60, 1000);
    await takeAtOnce(ask, 10);
    const lowered = await store.take({ ...ask, perMinute: 5, perDay: 7 });
    expect(lowered.admitted).toBe(false);
    expect(lowered.windows).toMatchObject([
      { name: 'minute', limit: 5, remaining: 0 },
      { name: 'day', limit: 7, remaining: 0 },
    ]);
    const raised = await store.take({ ...ask, perMinute: 300, perDay: 10_000 });
    expect(raised.admitted).toBe(true);
    expect(remaining(raised)).toEqual([289, 9989]);
  });

  it('of a stranger is the minute alone', async () => {
    const stranger = newSubject(2, null);
    const admissions = await takeAtOnce(stranger, 3);
    expect(admissions.map((admission) => admission.admitted)).toEqual([true, true, false]);
    for (const { windows } of admissions) {
      expect(windows.map(({ name }) => name)).toEqual(['minute']);
    }
  });
});

describe('a request takes from both windows or from none', () => {
  it('so that a refusal by the minute never burns the day', async () => {
    const ask = newSubject(5, 100);
    await takeAtOnce(ask, 12);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 5, day_used: 5 });
    expect(remaining(await store.take(ask))).toEqual([0, 95]);
  });

  it('so that a refusal by the day never burns the minute', async () => {
    const ask = newSubject(100, 5);
    await takeAtOnce(ask, 12);
    expect(await counterOf(ask)).toMatchObject({ minute_used: 5, day_used: 5 });
    expect(remaining(await store.take(ask))).toEqual([95, 0]);
  });
});

describe('a window', () => {
  const noon = Date.UTC(2027, 2, 5, 12);

  it('of a minute begins anew with the minute, and tells when it ends', async () => {
    clock.travelTo(new Date(noon + 50_000));
    const ask = newSubject(5, 1000);
    const before = await takeAtOnce(ask, 6);
    expect(admitted(before)).toHaveLength(5);
    for (const { windows, nowMs } of before) {
      expect(windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
        noon + MINUTE_MS,
        Date.UTC(2027, 2, 6),
      ]);
      expect(nowMs).toBeGreaterThanOrEqual(noon + 50_000);
      expect(nowMs).toBeLessThan(noon + MINUTE_MS);
    }
    clock.travelTo(new Date(noon + MINUTE_MS));
    const after = await store.take(ask);
    expect(after.admitted).toBe(true);
    expect(remaining(after)).toEqual([4, 994]);
    expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
      noon + 2 * MINUTE_MS,
      Date.UTC(2027, 2, 6),
    ]);
  });

  it('of a day begins anew with the UTC day, and tells when it ends', async () => {
    const midnight = Date.UTC(2028, 1, 29);
    clock.travelTo(new Date(midnight - 10_000));
    const ask = newSubject(100, 5);
    expect((await takeAtOnce(ask, 6)).map((admission) => admission.admitted).at(-1)).toBe(false);
    clock.travelTo(new Date(midnight));
    const after = await store.take(ask);
    expect(after.admitted).toBe(true);
    expect(remaining(after)).toEqual([99, 4]);
    expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
      midnight + MINUTE_MS,
      midnight + DAY_MS,
    ]);
  });

  it('that was used up yesterday leaves nothing behind after a long silence', async () => {
    const ask = newSubject(5, 5);
    await takeAtOnce(ask, 6);
    clock.travel(40 * DAY_MS);
    const later = await store.take(ask);
    expect(later.admitted).toBe(true);
    expect(remaining(later)).toEqual([4, 4]);
  });

  it('never goes back: a replica whose clock is behind counts in the later window', async () => {
    clock.travelTo(new Date(noon + MINUTE_MS));
    const ask = newSubject(5, 100);
    await takeAtOnce(ask, 3);
    const clockBehind = new TestClock();
    clockBehind.travelTo(new Date(noon + 30_000));
    const behind = await takeAtOnce(ask, 3, [open(clockBehind)]);
    expect(behind.map((admission) => [admission.admitted, ...remaining(admission)])).toEqual([
      [true, 1, 96],
      [true, 0, 95],
      [false, 0, 95],
    ]);
    for (const { windows, nowMs } of behind) {
      expect(windows[0]?.resetSeconds).toBe((noon + 2 * MINUTE_MS) / 1000);
      // The answer's own time is inside that window: it tells no wait longer than a minute.
      expect(nowMs).toBe(noon + MINUTE_MS);
    }
  });

  it('never goes back to yesterday: a replica whose clock is behind midnight counts in the new day', async () => {
    const midnight = Date.UTC(2027, 2, 6);
    clock.travelTo(new Date(midnight));
    const ask = newSubject(100, 5);
    await takeAtOnce(ask, 5);
    const clockBehind = new TestClock();
    clockBehind.travelTo(new Date(midnight - 30_000));
    const behind = await open(clockBehind).take(ask);
    expect(behind.admitted).toBe(false);
    expect(remaining(behind)).toEqual([95, 0]);
    expect(behind.windows[1]?.resetSeconds).toBe((midnight + DAY_MS) / 1000);
  });

  it("grants nothing beyond the limit to a question that a lock held up across the minute's edge", async () => {
    clock.travelTo(new Date(noon + 59_000));
    const ask = newSubject(5, 100);
    await store.take(ask);
    let held: Promise<Admission> | undefined;
    await holding(async (holder) => {
      await holder.query(
        'UPDATE rate_limit_counters SET minute = minute + 1, minute_used = 5, day_used = 6 WHERE subject = $1',
        [ask.subject],
      );
      held = store.take(ask);
      await until(async () => (await countingBackends()).some(({ waits }) => waits));
    });
    const admission = (await held) as Admission;
    expect(admission.admitted).toBe(false);
    expect(remaining(admission)).toEqual([0, 94]);
    expect(admission.windows[0]?.resetSeconds).toBe((noon + 2 * MINUTE_MS) / 1000);
    expect(admission.nowMs).toBe(noon + MINUTE_MS);
    expect(await counterOf(ask)).toMatchObject({ minute: noon / MINUTE_MS + 1, minute_used: 5, day_used: 6 });
  });

  it("grants what is left to a question that a lock held up across the minute's edge", async () => {
    clock.travelTo(new Date(noon + 59_000));
    const ask = newSubject(5, 100);
    await store.take(ask);
    let held: Promise<Admission[]> | undefined;
    await holding(async (holder) => {
      await holder.query(
        'UPDATE rate_limit_counters SET minute = minute + 1, minute_used = 3, day_used = 4 WHERE subject = $1',
        [ask.subject],
      );
      held = takeAtOnce(ask, 4);
      await until(async () => (await countingBackends()).some(({ waits }) => waits));
    });
    expect(admitted((await held) ?? [])).toHaveLength(2);
    expect(await counterOf(ask)).toMatchObject({ minute: noon / MINUTE_MS + 1, minute_used: 5, day_used: 6 });
  });
});

describe('many at once', () => {
  it('take their rows in the order of their subjects, whatever the order of the asks', async () => {
    const [first, second, third] = [newSubject(), newSubject(), newSubject()].toSorted((a, b) =>
      a.subject.localeCompare(b.subject),
    ) as [Ask, Ask, Ask];
    await Promise.all([first, second, third].map((ask) => store.take(ask)));
    let held: Promise<Admission[]> | undefined;
    await holding(async (holder) => {
      const lock = 'SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE NOWAIT';
      await holder.query(lock, [first.subject]);
      held = Promise.all([newSubject(), third, second, first].map((ask) => store.take(ask)));
      await until(async () => (await countingBackends()).some(({ waits }) => waits));
      // Who waits for the first has none of the others yet.
      await holder.query(lock, [second.subject]);
      await holder.query(lock, [third.subject]);
    });
    expect(admitted((await held) ?? [])).toHaveLength(4);
  });

  it('never wait for each other in a circle, though two replicas name the same subjects in opposite order', async () => {
    const known = Array.from({ length: 60 }, () => newSubject(1000, 1000));
    const other = open();
    // A first ask each goes at once and alone; the rest gather behind it, all subjects in one question.
    const rounds = await Promise.all(
      Array.from({ length: 20 }, () => [
        ...known.map((ask) => store.take(ask)),
        ...known.toReversed().map((ask) => other.take(ask)),
      ]).flat(),
    );
    expect(admitted(rounds)).toHaveLength(60 * 20 * 2);
    for (const ask of known) {
      expect(await counterOf(ask)).toMatchObject({ minute_used: 40, day_used: 40 });
    }
  });

  it('never wait in a circle over many questions in a row, half of them of new subjects', async () => {
    const replicas = [store, open()];
    for (let round = 0; round < 15; round += 1) {
      const asks = Array.from({ length: 30 }, () => newSubject());
      const admissions = await Promise.all(
        replicas.flatMap((replica, index) =>
          (index === 0 ? asks : asks.toReversed()).flatMap((ask) => [replica.take(ask), replica.take(ask)]),
        ),
      );
      expect(admitted(admissions)).toHaveLength(120);
    }
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

  it('that was lost is made anew: the next question is answered, and the counts are kept', async () => {
    const ask = newSubject(60, 1000);
    await store.take(ask);
    const [backend] = await countingBackends();
    await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
    await until(async () => (await countingBackends()).length === 0);
    // What the server said last has arrived; it is read within this turn of the event loop.
    await nextTurn();
    expect(remaining(await store.take(ask))).toEqual([58, 998]);
  });

  it('that was lost under a question fails those who wait for its answer or behind it, and the next is answered', async () => {
    const ask = newSubject(60, 1000);
    await store.take(ask);
    let outcomes: Promise<PromiseSettledResult<Admission>[]> | undefined;
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE subject = $1 FOR UPDATE', [ask.subject]);
      // The first is under way and waits for the lock; the second is gathered behind it.
      outcomes = Promise.allSettled([store.take(ask), store.take(newSubject(5, 50))]);
      await until(async () => (await countingBackends()).some(({ waits }) => waits));
      const [backend] = await countingBackends();
      await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
      await outcomes;
    });
    const [lost, gathered] = (await outcomes) ?? [];
    expect(lost?.status === 'rejected' && isDatabaseUnavailable(lost.reason)).toBe(true);
    expect([lost, gathered]).toMatchObject([
      { reason: { kind: 'unanswered' } },
      { reason: { kind: 'withdrawn' } },
    ]);
    expect(remaining(await store.take(ask))).toEqual([58, 998]);
  });

  it('that hangs is given up within a second, and only its successor is left', async () => {
    const ask = newSubject(60, 1000);
    await store.take(ask);
    const [hanging] = await countingBackends();
    const pid = (hanging as { pid: number }).pid;
    process.kill(pid, 'SIGSTOP');
    try {
      const reason = await store.take(ask).catch((error: unknown) => error);
      expect(reason).toMatchObject({ kind: 'unanswered' });
      expect(isDatabaseUnavailable(reason)).toBe(true);
      expect(remaining(await store.take(ask))).toEqual([58, 998]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => !(await countingBackends()).some((backend) => backend.pid === pid));
    await store.take(ask);
    expect(await countingBackends()).toHaveLength(1);
  });
});

describe('the sweep', () => {
  /** A row as it would be stored, last counted so long ago. */
  async function stored(ask: Ask, agoMs: number): Promise<string> {
    const at = clock.now() - agoMs;
    await database.query(
      `INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, day_limit, granted)
       VALUES ($1, $2, 1, $3, $4, 1, $5, 1)`,
      [ask.subject, Math.floor(at / MINUTE_MS), ask.perMinute, Math.floor(at / DAY_MS), ask.perDay],
    );
    return ask.subject;
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

  it('takes nothing from anybody: who comes back begins anew', async () => {
    const ask = newSubject(5, 5);
    await takeAtOnce(ask, 5);
    await store.sweep();
    expect((await store.take(ask)).admitted).toBe(false);
    clock.travel(3 * DAY_MS);
    await store.sweep();
    expect(await subjectsLeft()).toEqual([]);
    expect(remaining(await store.take(ask))).toEqual([4, 4]);
  });
});
