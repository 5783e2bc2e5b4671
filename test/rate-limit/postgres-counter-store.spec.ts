import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import getPort from 'get-port';
import { isDatabaseUnavailable } from '../../src/database/access/availability.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { CounterCleanup } from '../../src/rate-limit/stores/counter-cleanup.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/time/clock.js';
import { postgresHome, type ServiceHome } from '../support/counter-stores.js';
import {
  allowed,
  banEnd,
  clock,
  consume,
  home,
  lengthMs,
  newBucket,
  NOON,
  openForEach,
  provokeBan,
  remaining,
  store,
  summarize,
} from './counting.js';
import type { TestDatabase } from '../support/database/database.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { openPrisma } from '../support/database/queries.js';
import { eventually, until } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';
import { fakeIntervals } from '../support/time/intervals.js';

/** Blocks the event loop of this process, without using the processor that the database needs. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

let database: TestDatabase;

openForEach(postgresHome);
beforeAll(() => ({ database } = home as ServiceHome));

const findCounter = ({ bucketKey }: RateLimitRequest) => home.findCounter(bucketKey);

/** Returns the connection that counts. */
const countingClient = () => (store as PostgresCounterStore)['connection']['pool'];

/** The server processes of the counting connections. */
const countingBackends = () =>
  database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE application_name = 'animal-store counters' AND datname = current_database()`,
  );

/** Ends the counting connection at the server. */
async function terminate(): Promise<void> {
  const [backend] = await countingBackends();
  await database.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
}

/** Runs `during` while the server process of the counting connection is stopped; returns its id. */
async function whileServerHangs(during: () => Promise<void>): Promise<number> {
  const [{ pid }] = (await countingBackends()) as [{ pid: number }];
  process.kill(pid, 'SIGSTOP');
  try {
    await during();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  return pid;
}

const untilWaiting = () => eventually(() => expectLocksWaitedFor(database, 1));
const lockRow = ({ bucketKey }: RateLimitRequest) =>
  `SELECT 1 FROM rate_limit_counters WHERE bucket_key = '${bucketKey}' FOR UPDATE`;

/**
 * Runs `send` while another transaction has changed the row of a bucket, and commits that once `send` waits
 * for it.
 */
async function whileChanged<T>(
  { bucketKey }: RateLimitRequest,
  changes: string,
  send: () => Promise<T>,
  meanwhile = async () => {},
): Promise<T> {
  const statement = `UPDATE rate_limit_counters SET ${changes} WHERE bucket_key = '${bucketKey}'`;
  const lock = await hold(database.url, statement);
  const sent = send();
  await untilWaiting();
  await meanwhile();
  await lock.letGo();
  return sent;
}

describe('PostgresCounterStore.consume, after waiting for a lock', () => {
  it.each([
    ['nothing beyond the limit', 5, 0],
    ['what is left', 3, 2],
  ])('allows %s when the wait crosses the end of the minute', async (_what, used, allowedCount) => {
    clock.travelTo(new Date(NOON + 59 * SECOND_MS));
    const request = newBucket(5, 100);
    await store.consume(request);
    const changes = `minute_number = minute_number + 1, minute_used = ${used}, day_used = ${used} + 1`;
    const decisions = await whileChanged(request, changes, () => consume(request, 4));
    expect(allowed(decisions)).toHaveLength(allowedCount);
    const last = decisions.at(-1) as RateLimitDecision;
    expect(remaining(last)).toEqual([0, 94]);
    expect(last.windows[0]?.resetSeconds).toBe((NOON + 2 * MINUTE_MS) / 1000);
    // The clock has not reached the minute that the other transaction has opened.
    expect(last.nowMs).toBeLessThan(NOON + MINUTE_MS);
    const stored = { minute: NOON / MINUTE_MS + 1, minuteUsed: 5, dayUsed: 6 };
    expect(await findCounter(request)).toMatchObject(stored);
  });

  it('denies by a ban that was started meanwhile, and leaves the ban unchanged', async () => {
    const request = newBucket(5);
    await consume(request, 5);
    const end = new Date(NOON + HOUR_MS);
    const changes = `minute_denied = 0, banned_until = '${end.toISOString()}', ban_level = 3`;
    const decisions = await whileChanged(request, changes, () => consume(request, 20));
    expect(summarize(decisions)).toBe('20 banned');
    expect(decisions.map(banEnd)).toEqual(decisions.map(() => end));
    expect(await findCounter(request)).toMatchObject({ denials: 0, bannedUntil: end, banLevel: 3 });
  });

  it('adds to the denials of the minute in which the wait ends, and starts the ban there', async () => {
    clock.travelTo(new Date(NOON + 55 * SECOND_MS));
    const request = newBucket(5);
    await consume(request, 5);
    const changes = `minute_number = minute_number + 1, minute_denied = ${denialsBeforeBan(5) - 3}`;
    const decisions = await whileChanged(request, changes, () => consume(request, 4));
    expect(summarize(decisions)).toBe('denied with 2 1 left, starts a ban, 1 banned');
    const starter = decisions[2] as RateLimitDecision;
    expect(banEnd(starter).getTime()).toBeLessThan(NOON + 2 * MINUTE_MS);
    // The time is read once for the ban and once for the response.
    expect(Math.abs((lengthMs(starter) ?? 0) - MINUTE_MS)).toBeLessThanOrEqual(5);
  });

  it('decides at the start of the later minute once that has begun: no wait is too long', async () => {
    clock.travelTo(new Date(NOON + MINUTE_MS - 500));
    const request = newBucket(5, 100);
    // Once it lacked room, consume.sql alone decides about the next batch.
    await consume(request, 6);
    const changes = 'minute_number = minute_number + 1, minute_used = 5';
    const [decision] = await whileChanged(
      request,
      changes,
      () => consume(request, 1),
      () => until(() => clock.now() > NOON + MINUTE_MS),
    );
    expect(decision).toMatchObject({ allowed: false, nowMs: NOON + MINUTE_MS });
  });
});

describe('PostgresCounterStore.liftBan', () => {
  it('ends the ban that it finds after waiting for the row', async () => {
    const request = newBucket(5);
    const meanwhile = new Date(banEnd(await provokeBan(request)).getTime() + DAY_MS);
    const lifted = await whileChanged(request, `banned_until = '${meanwhile.toISOString()}'`, () =>
      store.liftBan(request.bucketKey),
    );
    expect(lifted).toEqual(meanwhile);
    expect(await store.bans()).toEqual(new Map());
  });

  it('fails within the timeout if another session locks the row; other bans can be lifted', async () => {
    const [held, other] = [newBucket(1), newBucket(1)];
    const [ban] = [await provokeBan(held), await provokeBan(other)];
    const lock = await hold(database.url, lockRow(held));
    const lifting = store.liftBan(held.bucketKey).catch((error: unknown) => error);
    await untilWaiting();
    expect(await store.bans()).toHaveProperty('size', 2);
    expect(await store.liftBan(other.bucketKey)).not.toBeNull();
    const reason = await lifting;
    expect(isDatabaseUnavailable(reason)).toBe(true);
    expect(reason).toHaveProperty('message', expect.stringContaining('lock timeout'));
    await lock.letGo();
    expect(await store.bans()).toEqual(new Map([[held.bucketKey, banEnd(ban)]]));
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

  it('runs one cheap statement while every bucket has room: new, known, or in a new minute', async () => {
    const [first, second] = [newBucket(5), newBucket(5, null)];
    await store.consume(first);
    expect(statements()).toEqual(['allow-one']);
    const together = await Promise.all([consume(first, 3), consume(second, 3)]);
    expect(together.flat().map(remaining)).toEqual([[3, 998], [2, 997], [1, 996], [4], [3], [2]]);
    expect(statements()).toEqual(['allow']);
    clock.travelTo(new Date(NOON + MINUTE_MS));
    expect((await consume(first, 2)).map(remaining)).toEqual([
      [4, 995],
      [3, 994],
    ]);
    expect(statements()).toEqual(['allow-one']);
  });

  it('runs the full statement for buckets without room, and only that if they lacked it before', async () => {
    const [full, free] = [newBucket(2), newBucket(20)];
    const [denied] = await Promise.all([consume(full, 3), store.consume(free)]);
    expect(summarize(denied)).toBe(`2 allowed, denied with ${denialsBeforeBan(2) - 1} left`);
    expect(statements()).toEqual(['allow', 'consume']);
    const decisions = await Promise.all([store.consume(free), store.consume(full)]);
    expect(allowed(decisions)).toHaveLength(1);
    expect(statements()).toEqual(['consume']);
    await store.consume(free);
    await store.consume(free);
    expect(statements()).toEqual(['allow-one', 'allow-one']);
  });
});

describe('PostgresCounterStore, while this process is late', () => {
  it('decides by the replies that arrived meanwhile, however late', async () => {
    await store.consume(newBucket());
    const decisions = consume(newBucket(2), 3);
    // The first of two statements is sent.
    await nextTurn();
    await nextTurn();
    block(1000);
    expect(allowed(await decisions)).toHaveLength(2);
  });

  it.each([300, 1000])('completes a connection attempt after %i ms', async (heldUpMs) => {
    const decision = store.consume(newBucket());
    await nextTurn();
    block(heldUpMs);
    expect((await decision).allowed).toBe(true);
  });
});

describe('PostgresCounterStore, with concurrent batches', () => {
  it('locks rows in the order of their buckets, whatever the order of the requests', async () => {
    const [first, second, third] = [newBucket(), newBucket(), newBucket()].toSorted((a, b) =>
      a.bucketKey.localeCompare(b.bucketKey),
    ) as [RateLimitRequest, RateLimitRequest, RateLimitRequest];
    await Promise.all([first, second, third].map((request) => store.consume(request)));
    const lock = await hold(database.url, lockRow(first));
    const held = Promise.all([third, second, first].map((request) => store.consume(request)));
    await untilWaiting();
    // A query that waits for the first row holds none of the others yet.
    await database.query(`${lockRow(second)} NOWAIT`);
    await database.query(`${lockRow(third)} NOWAIT`);
    await lock.letGo();
    expect(allowed(await held)).toHaveLength(3);
  });

  it('does not deadlock over many batches in a row, half of them with new buckets', async () => {
    const other = await home.open();
    for (let round = 0; round < 8; round += 1) {
      const requests = Array.from({ length: 30 }, () => newBucket());
      const decisions = await Promise.all([
        ...requests.map((request) => consume(request, 2)),
        ...requests.toReversed().map((request) => consume(request, 2, other)),
      ]);
      expect(allowed(decisions.flat())).toHaveLength(120);
    }
  });
});

describe('the connection of PostgresCounterStore', () => {
  it('commits without waiting for the disk, unlike the connection that stores animals', async () => {
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 1 });
    try {
      await store.ping();
      const { rows } = await countingClient().query('SHOW synchronous_commit');
      expect(rows).toEqual([{ synchronous_commit: 'off' }]);
      expect(await prisma.$queryRaw`SHOW synchronous_commit`).toEqual([{ synchronous_commit: 'on' }]);
    } finally {
      await prisma.onApplicationShutdown();
    }
  });

  it('retries a query after a conflict with another transaction, and counts it once', async () => {
    const request = newBucket();
    await store.consume(request);
    // A pooler may have set this.
    await countingClient().query("SET default_transaction_isolation = 'repeatable read'");
    const changes = 'minute_used = 10, day_used = 10';
    const retried = await whileChanged(request, changes, () => store.consume(request));
    expect(retried.allowed).toBe(true);
    expect(await findCounter(request)).toMatchObject({ dayUsed: 11 });
  });

  it('is replaced after it was lost: the next query succeeds, and the counts are kept', async () => {
    const request = newBucket();
    await store.consume(request);
    await terminate();
    await until(async () => (await countingBackends()).length === 0);
    // The server's last message has arrived; it is read within this turn of the event loop.
    await nextTurn();
    expect(remaining(await store.consume(request))).toEqual([58, 998]);
  });

  it('rejects the query in flight when it is lost, and the next query succeeds', async () => {
    const request = newBucket();
    await store.consume(request);
    const lock = await hold(database.url, lockRow(request));
    // The first is in flight and waits for the lock; the second is queued behind it.
    const first = store.consume(request);
    await untilWaiting();
    const outcomes = Promise.allSettled([first, store.consume(newBucket())]);
    await terminate();
    const [lost, queued] = await outcomes;
    await lock.letGo();
    expect(lost.status === 'rejected' && isDatabaseUnavailable(lost.reason)).toBe(true);
    expect(lost).toMatchObject({ reason: { reason: 'failed' } });
    expect(queued).toMatchObject({ value: { allowed: true } });
    expect(remaining(await store.consume(request))).toEqual([58, 998]);
  });

  it('is replaced when it is read-only, and its successor counts again', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const refused = { reason: 'refused', cause: { code: '25006' } };
    await expect(store.consume(newBucket())).rejects.toMatchObject(refused);
    await database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect((await store.consume(newBucket())).allowed).toBe(true);
  });

  it('fails immediately: as refused by the server, or as failed without a socket left', async () => {
    const DATABASE_URL = `postgres://127.0.0.1:${await getPort({ host: '127.0.0.1' })}/x`;
    const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL });
    const away = new PostgresCounterStore(environment, openPrisma(environment));
    await expect(away.consume(newBucket())).rejects.toMatchObject({ reason: 'refused' });
    const noSocket = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
    const connect = jest.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
      this: net.Socket,
    ) {
      return this.destroy(noSocket);
    });
    await expect(away.consume(newBucket())).rejects.toMatchObject({ reason: 'failed' });
    connect.mockRestore();
  });

  it('fails as failed, so that no limit is loosened, while its role has no connection left', async () => {
    const direct = new URL(database.url);
    [direct.username, direct.password] = [`counting_${randomBytes(6).toString('hex')}`, 'secret'];
    await database.query(`CREATE ROLE ${direct.username} LOGIN PASSWORD 'secret' CONNECTION LIMIT 0`);
    await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${direct.username}`);
    const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: direct.href });
    const limited = new PostgresCounterStore(environment, openPrisma(environment));
    await expect(limited.consume(newBucket())).rejects.toMatchObject({ reason: 'failed' });
    await database.query(`ALTER ROLE ${direct.username} CONNECTION LIMIT -1`);
    expect((await limited.consume(newBucket())).allowed).toBe(true);
    await limited.onApplicationShutdown();
    await database.query(`DROP OWNED BY ${direct.username}; DROP ROLE ${direct.username}`);
  });

  it('is closed within a second when it hangs, so that only its successor is left', async () => {
    const request = newBucket();
    await store.consume(request);
    const pid = await whileServerHangs(async () => {
      const reason = await store.consume(request).catch((error: unknown) => error);
      expect(reason).toMatchObject({ reason: 'silent' });
      expect(isDatabaseUnavailable(reason)).toBe(true);
      expect(remaining(await store.consume(request))).toEqual([58, 998]);
    });
    await until(async () => !(await countingBackends()).some((backend) => backend.pid === pid));
    expect(await countingBackends()).toHaveLength(1);
  });

  it('does not delay a shutdown when the server does not respond', async () => {
    await store.consume(newBucket());
    await whileServerHangs(async () => {
      const start = performance.now();
      await (store as PostgresCounterStore).onApplicationShutdown();
      expect(performance.now() - start).toBeLessThan(2 * SECOND_MS);
    });
  });
});

describe('CounterCleanup', () => {
  const LONG_AGO_MS = 40 * DAY_MS;
  let cleanup: CounterCleanup;

  beforeEach(() => {
    cleanup = new CounterCleanup((store as PostgresCounterStore)['prisma']);
    clock.travelTo(new Date(NOON + 5 * SECOND_MS));
  });

  /**
   * Stores a row that was last counted `agoMs` ago, and whose ban ended `endedAgoMs` ago if it has a ban
   * level.
   */
  async function stored(perDay: number | null, agoMs: number, banLevel = 0, endedAgoMs = 0): Promise<string> {
    const { bucketKey } = newBucket();
    const atMs = clock.now() - agoMs;
    const end = banLevel === 0 ? null : new Date(clock.now() - endedAgoMs);
    await database.query(
      `INSERT INTO rate_limit_counters
         (bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, day_limit, last_allowed,
           ban_level, banned_until)
       VALUES ($1, $2, 1, 60, $3, 1, $4, 1, $5, $6)`,
      [bucketKey, Math.floor(atMs / MINUTE_MS), Math.floor(atMs / DAY_MS), perDay, banLevel, end],
    );
    return bucketKey;
  }

  /** Runs the cleanup, and expects it to keep only the first `keptCount` of these rows. */
  async function expectKept(keptCount: number, rows: Parameters<typeof stored>[]): Promise<void> {
    const keys = await Promise.all(rows.map((row) => stored(...row)));
    await cleanup.deleteExpired();
    expect((await home.bucketKeys()).toSorted()).toEqual(keys.slice(0, keptCount).toSorted());
  }

  it.each([
    ['anonymous clients after ten minutes', null, [0, 10 * MINUTE_MS], 11 * MINUTE_MS],
    ['quotas after two days, since their day counts until then', 1000, [11 * MINUTE_MS, DAY_MS], 2 * DAY_MS],
  ])('removes the rows of %s', async (_whose, perDay, keptMs, removedMs) => {
    await expectKept(
      2,
      [...keptMs, removedMs, LONG_AGO_MS].map((agoMs) => [perDay, agoMs]),
    );
  });

  it('keeps a row with a ban, or with a ban level that is not back to zero', async () => {
    await expectKept(3, [
      [1000, LONG_AGO_MS, 1, -DAY_MS],
      [1000, LONG_AGO_MS, 1, DAY_MS - 10 * SECOND_MS],
      [1000, LONG_AGO_MS, 4, 4 * DAY_MS - 10 * SECOND_MS],
      [1000, LONG_AGO_MS, 1, DAY_MS],
      [1000, LONG_AGO_MS, 4, 4 * DAY_MS],
    ]);
  });

  it('skips a row that is being counted, and does not wait for it', async () => {
    const bucketKey = await stored(1000, LONG_AGO_MS);
    await stored(1000, LONG_AGO_MS);
    const lock = await hold(database.url, lockRow({ ...newBucket(), bucketKey }));
    await cleanup.deleteExpired();
    expect(await home.bucketKeys()).toEqual([bucketKey]);
    await lock.letGo();
    await cleanup.deleteExpired();
    expect(await home.bucketKeys()).toStrictEqual([]);
  });

  it('removes a limited number of rows at a time, and reports whether there are more', async () => {
    await database.query(
      `INSERT INTO rate_limit_counters
         (bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, last_allowed)
       SELECT 'address:' || n, 0, 1, 300, 0, 1, 1 FROM generate_series(1, 7000) AS n`,
    );
    expect(await cleanup.deleteExpired()).toBe(true);
    expect(await home.bucketKeys()).toHaveLength(2000);
    expect(await cleanup.deleteExpired()).toBe(false);
    expect(await home.bucketKeys()).toStrictEqual([]);
  });

  it('runs every minute', async () => {
    await stored(1000, LONG_AGO_MS);
    fakeIntervals();
    cleanup.onModuleInit();
    jest.advanceTimersByTime(MINUTE_MS);
    jest.useRealTimers();
    await eventually(async () => expect(await home.bucketKeys()).toStrictEqual([]));
  });
});
