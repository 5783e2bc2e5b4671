import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { isDatabaseUnavailable } from '../../src/database/availability.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { readEnvironment } from '../../src/settings/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import type { CountingConnection } from '../../src/rate-limit/stores/postgres-connection.js';
import { CounterCleanup } from '../../src/rate-limit/stores/counter-cleanup.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { TestClock } from '../support/counters/clock.js';
import {
  allowed,
  consumeAtOnce,
  describeDecision,
  endOf,
  lengthMs,
  newBucket,
  remaining,
  times,
} from '../support/counters/counter-stores.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually, until } from '../support/eventually.js';
import getPort from 'get-port';
import { hold } from '../support/load/holding.js';
import { fakeIntervals } from '../support/load/intervals.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { openQueries } from '../support/database/queries.js';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2027, 2, 5, 12);

/** Blocks the event loop of this process. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Busy-waits.
  }
}

let database: TestDatabase;
let clock: TestClock;
let store: PostgresCounterStore;
let stores: PostgresCounterStore[];
let cleanup: CounterCleanup;

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
  cleanup = new CounterCleanup(store['queries'], clock);
});
afterEach(async () => {
  await Promise.all(stores.map((each) => each.onApplicationShutdown()));
  await database.query('DELETE FROM rate_limit_counters');
});

/** Opens the counter store of one more replica. */
function open(itsClock = clock): PostgresCounterStore {
  const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
  const opened = new PostgresCounterStore(environment, itsClock, openQueries(environment));
  stores.push(opened);
  return opened;
}

/** Returns the stored row of a bucket. */
async function counterOf({ bucketKey }: RateLimitRequest): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query(
    `SELECT minute, minute_used, day, day_used, requests, allowed, denied, refusals, banned_until, ban_level
     FROM rate_limit_counters WHERE bucket_key = $1`,
    [bucketKey],
  );
  return row;
}

/** Returns the connection that counts. */
const countingClient = () => (store['connection'].current as CountingConnection)['client'];

/** The server processes of the counting connections. */
async function countingBackends(): Promise<{ pid: number }[]> {
  return database.query(
    `SELECT pid FROM pg_stat_activity
     WHERE application_name = 'animal-store counters' AND datname = current_database()`,
  );
}

/** Runs `during` while the server process of the counting connection is stopped; returns its id. */
async function whileServerHangs(during: () => Promise<void>): Promise<number> {
  const [backend] = await countingBackends();
  const { pid } = backend as { pid: number };
  process.kill(pid, 'SIGSTOP');
  try {
    await during();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  return pid;
}

/** Whether the store waits for a lock. */
async function isWaiting(): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'animal-store%'
     AND datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** Runs `during` while another connection holds a transaction open, then commits that transaction. */
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

/** Runs `send` while another connection holds the rows that `statement` wrote, and commits once the requests wait. */
async function whileHeld<T>(statement: string, values: unknown[], send: () => Promise<T>): Promise<T> {
  let held: Promise<T> | undefined;
  await holding(async (holder) => {
    await holder.query(statement, values);
    held = send();
    await until(isWaiting);
  });
  return held as Promise<T>;
}

/** Sends requests for the bucket until it is banned, within this minute. */
async function startBan(request: RateLimitRequest): Promise<RateLimitDecision> {
  const starter = (await consumeAtOnce(request, request.perMinute * 2, store)).at(-1) as RateLimitDecision;
  expect(starter.ban).toEqual({ untilMs: expect.any(Number), started: true });
  return starter;
}

describe('PostgresCounterStore.consume, after waiting for a lock', () => {
  it.each([
    ['nothing beyond the limit', 5, 0],
    ['what is left', 3, 2],
  ])('allows %s when the wait crosses the end of the minute', async (_what, used, allowedCount) => {
    clock.travelTo(new Date(NOON + 59_000));
    const request = newBucket(5, 100);
    await store.consume(request);
    const decisions = await whileHeld(
      'UPDATE rate_limit_counters SET minute = minute + 1, minute_used = $2, day_used = $2 + 1 WHERE bucket_key = $1',
      [request.bucketKey, used],
      () => consumeAtOnce(request, 4, store),
    );
    expect(allowed(decisions)).toHaveLength(allowedCount);
    const last = decisions.at(-1) as RateLimitDecision;
    expect(remaining(last)).toEqual([0, 94]);
    expect(last.windows[0]?.resetSeconds).toBe((NOON + 2 * MINUTE_MS) / 1000);
    expect(last.nowMs).toBe(NOON + MINUTE_MS);
    expect(await counterOf(request)).toMatchObject({
      minute: NOON / MINUTE_MS + 1,
      minute_used: 5,
      day_used: 6,
    });
  });

  it('denies by a ban that was started meanwhile, and leaves the ban unchanged', async () => {
    const request = newBucket(5, 100_000);
    await consumeAtOnce(request, 5, store);
    const end = new Date(NOON + HOUR_MS);
    const decisions = await whileHeld(
      'UPDATE rate_limit_counters SET refusals = 0, banned_until = $2, ban_level = 3 WHERE bucket_key = $1',
      [request.bucketKey, end],
      () => consumeAtOnce(request, 20, store),
    );
    expect(decisions.map(describeDecision)).toEqual(times(20, 'banned'));
    expect(decisions.map(endOf)).toEqual(decisions.map(() => end));
    expect(await counterOf(request)).toMatchObject({ refusals: 0, banned_until: end, ban_level: 3 });
  });

  it('adds to the refusals of the later minute when the wait crosses the end of the minute, and starts the ban there', async () => {
    clock.travelTo(new Date(NOON + 55 * SECOND_MS));
    const request = newBucket(5, 100_000);
    await consumeAtOnce(request, 5, store);
    const decisions = await whileHeld(
      'UPDATE rate_limit_counters SET minute = minute + 1, refusals = 2 WHERE bucket_key = $1',
      [request.bucketKey],
      () => consumeAtOnce(request, 4, store),
    );
    expect(decisions.map(describeDecision)).toEqual([
      'denied, 2 until a ban',
      'denied, 1 until a ban',
      'starts a ban',
      'banned',
    ]);
    expect(endOf(decisions[2] as RateLimitDecision)).toEqual(new Date(NOON + 2 * MINUTE_MS));
    expect(lengthMs(decisions[2] as RateLimitDecision)).toBe(MINUTE_MS);
  });
});

describe('PostgresCounterStore.liftBan', () => {
  it('ends the ban that it finds after waiting for the row', async () => {
    const request = newBucket(5, 100_000);
    const starter = await startBan(request);
    const meanwhile = new Date(endOf(starter).getTime() + DAY_MS);
    const lifted = await whileHeld(
      'UPDATE rate_limit_counters SET banned_until = $2 WHERE bucket_key = $1',
      [request.bucketKey, meanwhile],
      () => store.liftBan(request.bucketKey),
    );
    expect(lifted).toEqual(meanwhile);
    expect(await store.bans()).toEqual(new Map());
  });
});

describe('PostgresCounterStore, while another session holds a lock', () => {
  it('fails to lift the ban of a locked row within the timeout, while other bans can be lifted', async () => {
    const [held, other] = [newBucket(1), newBucket(1)];
    const [ban] = [await startBan(held), await startBan(other)];
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE bucket_key = $1 FOR UPDATE', [
        held.bucketKey,
      ]);
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
});

describe('PostgresCounterStore.consume', () => {
  let queries: jest.SpyInstance;

  beforeEach(() => {
    queries = jest.spyOn(pg.Client.prototype, 'query');
  });
  afterEach(() => queries.mockRestore());

  /** Returns the names of the prepared statements that ran since the last call. */
  function statements(): string[] {
    const names = queries.mock.calls.map(([query]: [{ name?: string }]) => query.name);
    queries.mockClear();
    return names.flatMap((name) => name?.replace(/-[0-9a-f]{12}$/, '') ?? []);
  }

  it('runs one cheap statement while every bucket has room, whether the bucket is new, known or in a new minute', async () => {
    clock.travelTo(new Date(NOON));
    const [first, second] = [newBucket(5), newBucket(5, null)];
    await store.consume(first);
    expect(statements()).toEqual(['allow-one']);
    const together = await Promise.all([...consumeThrice(first), ...consumeThrice(second)]);
    expect(together.map(remaining)).toEqual([[3, 998], [2, 997], [1, 996], [4], [3], [2]]);
    expect(statements()).toEqual(['allow']);
    clock.travelTo(new Date(NOON + MINUTE_MS));
    expect((await Promise.all(consumeThrice(first))).map(remaining)).toEqual([
      [4, 995],
      [3, 994],
      [2, 993],
    ]);
    expect(statements()).toEqual(['allow-one']);
  });

  it('runs the full statement for buckets without room, and no other for a bucket that lacked room last time', async () => {
    clock.travelTo(new Date(NOON));
    const [full, free] = [newBucket(2), newBucket(20)];
    expect((await Promise.all([...consumeThrice(full), store.consume(free)])).map(describeDecision)).toEqual([
      'allowed',
      'allowed',
      'denied, 1 until a ban',
      'allowed',
    ]);
    expect(statements()).toEqual(['allow', 'consume']);
    expect((await Promise.all([store.consume(free), store.consume(full)])).map(describeDecision)).toEqual([
      'allowed',
      'starts a ban',
    ]);
    expect(statements()).toEqual(['consume']);
    await store.consume(free);
    await store.consume(free);
    expect(statements()).toEqual(['allow-one', 'allow-one']);
  });

  it('decides by the replies that arrived while this process was late, however late', async () => {
    const request = newBucket(2);
    await store.consume(newBucket());
    const decisions = consumeAtOnce(request, 3, store);
    // The first of two statements is sent.
    await nextTurn();
    await nextTurn();
    block(1000);
    expect((await decisions).map(describeDecision)).toEqual(['allowed', 'allowed', 'denied, 1 until a ban']);
  });

  const consumeThrice = (request: RateLimitRequest) =>
    Array.from({ length: 3 }, () => store.consume(request));
});

describe('PostgresCounterStore, with concurrent batches', () => {
  it('locks rows in the order of their buckets, whatever the order of the requests', async () => {
    const [first, second, third] = [newBucket(), newBucket(), newBucket()].toSorted((a, b) =>
      a.bucketKey.localeCompare(b.bucketKey),
    ) as [RateLimitRequest, RateLimitRequest, RateLimitRequest];
    await Promise.all([first, second, third].map((request) => store.consume(request)));
    let held: Promise<RateLimitDecision[]> | undefined;
    await holding(async (holder) => {
      const lock = 'SELECT 1 FROM rate_limit_counters WHERE bucket_key = $1 FOR UPDATE NOWAIT';
      await holder.query(lock, [first.bucketKey]);
      held = Promise.all([newBucket(), third, second, first].map((request) => store.consume(request)));
      await until(isWaiting);
      // A query that waits for the first row holds none of the others yet.
      await holder.query(lock, [second.bucketKey]);
      await holder.query(lock, [third.bucketKey]);
    });
    expect(allowed((await held) ?? [])).toHaveLength(4);
  });

  it('does not deadlock over many batches in a row, half of them with new buckets', async () => {
    const replicas = [store, open()];
    for (let round = 0; round < 15; round += 1) {
      const requests = Array.from({ length: 30 }, () => newBucket());
      const decisions = await Promise.all(
        replicas.flatMap((replica, index) =>
          (index === 0 ? requests : requests.toReversed()).flatMap((request) => [
            replica.consume(request),
            replica.consume(request),
          ]),
        ),
      );
      expect(allowed(decisions)).toHaveLength(120);
    }
  });
});

describe('the connection of PostgresCounterStore', () => {
  it('commits without waiting for the disk, unlike the connection that stores animals', async () => {
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 1 });
    try {
      await store.ping();
      const counting = countingClient();
      expect((await counting.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
      expect(await prisma.$queryRaw`SHOW synchronous_commit`).toEqual([{ synchronous_commit: 'on' }]);
    } finally {
      await prisma.$disconnect();
    }
  });

  it('retries a query after a conflict with another transaction, and counts it once', async () => {
    const request = newBucket(60, 1000);
    await store.consume(request);
    const counting = countingClient();
    // A pooler may have set this.
    await counting.query("SET default_transaction_isolation = 'repeatable read'");
    const holder = await hold(
      database.url,
      `UPDATE rate_limit_counters SET minute_used = 10, day_used = 10 WHERE bucket_key = '${request.bucketKey}'`,
    );
    const retried = store.consume(request);
    await eventually(() => expectLocksWaitedFor(database, 1));
    await holder.letGo();
    expect(await retried).toMatchObject({ allowed: true, degraded: false });
    expect(await counterOf(request)).toMatchObject({ day_used: 11 });
    await counting.query("SET default_transaction_isolation = 'read committed'");
  });

  it('is replaced after it was lost: the next query succeeds, and the counts are kept', async () => {
    const request = newBucket(60, 1000);
    await store.consume(request);
    const [backend] = await countingBackends();
    await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
    await until(async () => (await countingBackends()).length === 0);
    // The server's last message has arrived; it is read within this turn of the event loop.
    await nextTurn();
    expect(remaining(await store.consume(request))).toEqual([58, 998]);
  });

  it('rejects the query in flight when it is lost, and the next query succeeds', async () => {
    const request = newBucket(60, 1000);
    await store.consume(request);
    let outcomes: Promise<PromiseSettledResult<RateLimitDecision>[]> | undefined;
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE bucket_key = $1 FOR UPDATE', [
        request.bucketKey,
      ]);
      // The first is in flight and waits for the lock; the second is queued behind it.
      const first = store.consume(request);
      await until(isWaiting);
      outcomes = Promise.allSettled([first, store.consume(newBucket(5, 50))]);
      const [backend] = await countingBackends();
      await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
      await outcomes;
    });
    const [lost, gathered] = (await outcomes) ?? [];
    expect(lost?.status === 'rejected' && isDatabaseUnavailable(lost.reason)).toBe(true);
    expect(lost).toMatchObject({ reason: { kind: 'failed' } });
    expect(gathered).toMatchObject({ value: { allowed: true } });
    expect(remaining(await store.consume(request))).toEqual([58, 998]);
  });

  it('is replaced when it is read-only, and its successor counts again', async () => {
    const request = newBucket(60, 1000);
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await expect(store.consume(request)).rejects.toMatchObject({ kind: 'refused', cause: { code: '25006' } });
    await database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect(remaining(await store.consume(request))).toEqual([59, 999]);
  });

  it('fails at once as refused when the server refuses it, and as failed when this process has no socket left', async () => {
    const refusing = await getPort({ host: '127.0.0.1' });
    const environment = readEnvironment({
      APP_ENV: 'staging',
      DATABASE_URL: `postgres://127.0.0.1:${refusing}/x`,
    });
    const away = new PostgresCounterStore(environment, clock, openQueries(environment));
    stores.push(away);
    await expect(away.consume(newBucket())).rejects.toMatchObject({ kind: 'refused' });
    const noSocket = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
    const connect = jest.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
      this: net.Socket,
    ) {
      return this.destroy(noSocket);
    });
    await expect(away.consume(newBucket())).rejects.toMatchObject({ kind: 'failed' });
    connect.mockRestore();
  });

  it('is closed within a second when it hangs, so that only its successor is left', async () => {
    const request = newBucket(60, 1000);
    await store.consume(request);
    const pid = await whileServerHangs(async () => {
      const reason = await store.consume(request).catch((error: unknown) => error);
      expect(reason).toMatchObject({ kind: 'silent' });
      expect(isDatabaseUnavailable(reason)).toBe(true);
      expect(remaining(await store.consume(request))).toEqual([58, 998]);
    });
    await until(async () => !(await countingBackends()).some((backend) => backend.pid === pid));
    await store.consume(request);
    expect(await countingBackends()).toHaveLength(1);
  });
});

describe('PostgresCounterStore, at shutdown', () => {
  it('does not wait for a server that does not respond', async () => {
    const ending = stores.pop() as PostgresCounterStore;
    await ending.consume(newBucket());
    await whileServerHangs(async () => {
      const start = performance.now();
      await ending.onApplicationShutdown();
      expect(performance.now() - start).toBeLessThan(2 * SECOND_MS);
    });
  });
});

describe('CounterCleanup', () => {
  /** Stores a row that was last counted `agoMs` ago. */
  async function stored(request: RateLimitRequest, agoMs: number): Promise<string> {
    const at = clock.now() - agoMs;
    await database.query(
      `INSERT INTO rate_limit_counters (bucket_key, minute, minute_used, minute_limit, day, day_used, day_limit, allowed)
       VALUES ($1, $2, 1, $3, $4, 1, $5, 1)`,
      [
        request.bucketKey,
        Math.floor(at / MINUTE_MS),
        request.perMinute,
        Math.floor(at / DAY_MS),
        request.perDay,
      ],
    );
    return request.bucketKey;
  }

  async function bucketsLeft(): Promise<string[]> {
    const rows = await database.query<{ bucket_key: string }>('SELECT bucket_key FROM rate_limit_counters');
    return rows.map(({ bucket_key }) => bucket_key).toSorted();
  }

  beforeEach(async () => {
    await database.query('DELETE FROM rate_limit_counters');
    clock.travelTo(new Date(Date.UTC(2027, 2, 5, 12, 0, 5)));
  });

  it('removes the rows of anonymous clients after ten minutes', async () => {
    const kept = [await stored(newBucket(300, null), 0), await stored(newBucket(300, null), 10 * MINUTE_MS)];
    await stored(newBucket(300, null), 11 * MINUTE_MS);
    await stored(newBucket(300, null), 30 * DAY_MS);
    await cleanup.deleteExpired();
    expect(await bucketsLeft()).toEqual(kept.toSorted());
  });

  it('removes the rows of quotas after two days, since their day counts until then', async () => {
    const kept = [await stored(newBucket(), 11 * MINUTE_MS), await stored(newBucket(), DAY_MS)];
    await stored(newBucket(), 2 * DAY_MS);
    await stored(newBucket(), 30 * DAY_MS);
    await cleanup.deleteExpired();
    expect(await bucketsLeft()).toEqual(kept.toSorted());
  });

  it('skips a row that is being counted, and does not wait for it', async () => {
    const locked = await stored(newBucket(), 30 * DAY_MS);
    await stored(newBucket(), 30 * DAY_MS);
    await holding(async (holder) => {
      await holder.query('SELECT 1 FROM rate_limit_counters WHERE bucket_key = $1 FOR UPDATE', [locked]);
      await cleanup.deleteExpired();
      expect(await bucketsLeft()).toEqual([locked]);
    });
    await cleanup.deleteExpired();
    expect(await bucketsLeft()).toEqual([]);
  });

  it('removes a limited number of rows at a time, and reports whether there are more', async () => {
    await database.query(
      `INSERT INTO rate_limit_counters (bucket_key, minute, minute_used, minute_limit, day, day_used, allowed)
       SELECT 'address:' || n, 0, 1, 300, 0, 1, 1 FROM generate_series(1, 7000) AS n`,
    );
    expect(await cleanup.deleteExpired()).toBe(true);
    expect(await bucketsLeft()).toHaveLength(2000);
    expect(await cleanup.deleteExpired()).toBe(false);
    expect(await bucketsLeft()).toEqual([]);
  });

  it('runs every minute', async () => {
    await stored(newBucket(), 30 * DAY_MS);
    fakeIntervals();
    cleanup.onModuleInit();
    jest.advanceTimersByTime(MINUTE_MS);
    jest.useRealTimers();
    await eventually(async () => expect(await bucketsLeft()).toEqual([]));
  });

  it('removes only rows whose windows are over: a returning client starts with full windows', async () => {
    const request = newBucket(5, 5);
    await consumeAtOnce(request, 5, store);
    await cleanup.deleteExpired();
    expect((await store.consume(request)).allowed).toBe(false);
    clock.travel(3 * DAY_MS);
    await cleanup.deleteExpired();
    expect(await bucketsLeft()).toEqual([]);
    expect(remaining(await store.consume(request))).toEqual([4, 4]);
  });
});

describe('CounterCleanup, with bans', () => {
  /** Stores a row whose windows are long over and whose ban ended `endedAgoMs` ago. */
  async function stored(name: string, step: number, endedAgoMs: number): Promise<string> {
    const at = clock.now() - 40 * DAY_MS;
    await database.query(
      `INSERT INTO rate_limit_counters
         (bucket_key, minute, minute_used, minute_limit, day, day_used, day_limit, allowed, banned_until, ban_level)
       VALUES ($1, $2, 1, 5, $3, 1, 100, 1, $4, $5)`,
      [name, Math.floor(at / MINUTE_MS), Math.floor(at / DAY_MS), new Date(clock.now() - endedAgoMs), step],
    );
    return name;
  }

  it('keeps a row with a ban, or with a ban level that is not back to zero', async () => {
    const kept = [
      await stored('quota:banned', 1, -DAY_MS),
      await stored('quota:on-step-one', 1, DAY_MS - 10 * SECOND_MS),
      await stored('quota:on-step-four', 4, 4 * DAY_MS - 10 * SECOND_MS),
    ];
    await stored('quota:fallen-from-one', 1, DAY_MS);
    await stored('quota:fallen-from-four', 4, 4 * DAY_MS);
    await cleanup.deleteExpired();
    const left = await database.query<{ bucket_key: string }>('SELECT bucket_key FROM rate_limit_counters');
    expect(left.map(({ bucket_key }) => bucket_key).toSorted()).toEqual(kept.toSorted());
  });

  it('keeps ban levels: a client that returns after days continues at its level', async () => {
    const request = newBucket(5, 100_000);
    for (let step = 1; step <= 4; step += 1) {
      const starter = await startBan(request);
      clock.travelTo(new Date(Math.ceil(endOf(starter).getTime() / MINUTE_MS) * MINUTE_MS));
    }
    clock.travel(3 * DAY_MS);
    await cleanup.deleteExpired();
    expect(lengthMs(await startBan(request))).toBe(5 * MINUTE_MS);
    clock.travel(10 * DAY_MS);
    await cleanup.deleteExpired();
    expect(await counterOf(request)).toBeUndefined();
    expect(lengthMs(await startBan(request))).toBe(MINUTE_MS);
  });
});
