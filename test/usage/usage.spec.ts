import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import type { UsageEntry } from '../../src/usage/rules/usage-counts.js';
import { UsageJournal } from '../../src/usage/usage.journal.js';
import { UsageRepository } from '../../src/usage/usage.repository.js';
import { UsageCleanup } from '../../src/usage/usage.cleanup.js';
import { startApplication, useApplication } from '../support/service/application.js';
import { DAY_MS, MINUTE_MS, SECOND_MS, TestClock } from '../support/time/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { eventually } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { fakeIntervals } from '../support/time/intervals.js';
import { sendRaw } from '../support/http/raw-http.js';
import { aggregateUsage, recordUsage } from '../support/keys/usage.js';

/** Half a minute into a minute, an hour and a day, all of which began at different instants. */
const HALF_PAST = new Date('2027-03-05T12:34:30.000Z');
const NEW_PET = { name: 'Rex', categoryId: 7 };
const ALL = { since: new Date(0), limit: 1000 };

const NONE = { succeeded: 0, redirected: 0, clientErrors: 0, serverErrors: 0, denied: 0 };
const fresh = (operation: string, statuses: Record<string, number>, denied = 0) => ({
  operation,
  deprecated: false,
  statuses: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, ...statuses },
  denied,
});

type Hold = Awaited<ReturnType<typeof hold>>;

describe('UsageRecorder', () => {
  const store = useApplication();
  let key: IssuedKey;

  beforeEach(async () => {
    store.clock.travelTo(HALF_PAST);
    key = await store.issue(UNLIMITED);
  });

  /** Returns what a key has used by minute, after all finished requests are written. */
  async function recorded({ id }: IssuedKey) {
    await recordUsage(store);
    const { entries: usage } = await store.app
      .get(UsageRepository)
      .page({ ...ALL, period: 'minute', keyId: id });
    return usage.map(({ operation, deprecated, statuses, denied }) => ({
      operation,
      deprecated,
      statuses,
      denied,
    }));
  }

  it.each<[string, string, Parameters<typeof send>[1], number, string]>([
    ['200', '/v1/pets', {}, 200, 'listPets'],
    ['200 of HEAD', '/v1/pets', { method: 'HEAD' }, 200, 'listPets'],
    ['400 of a parameter', '/v1/pets?limit=0', {}, 400, 'listPets'],
    ['400 of a body', '/v1/pets', { method: 'POST', body: '{' }, 400, 'createPet'],
    ['415', '/v1/pets', { method: 'POST', headers: { 'Content-Type': 'text/plain' } }, 415, 'createPet'],
    ['403 of administration', '/admin/keys', {}, 403, 'listKeys'],
    ['404 of an unknown path', '/v1/dogs', {}, 404, 'none'],
    ['404 of an empty id', '/v1/pets/', {}, 404, 'none'],
    ['404 of a path that cannot be decoded', '/v1/%E0%A4%A', {}, 404, 'none'],
    ['405', '/v1/pets', { method: 'DELETE' }, 405, 'none'],
  ])('records the operation and class of a request: %s', async (_name, path, init, status, operation) => {
    expect((await send(`${store.url}${path}`, { key: key.key, ...init })).status).toBe(status);
    expect(await recorded(key)).toMatchObject([fresh(operation, { [`${String(status)[0]}xx`]: 1 })]);
  });

  it('records no request that is too large, because no key is judged before its body arrives', async () => {
    const init = { method: 'POST', key: key.key, body: 'x'.repeat(70_000) };
    expect((await send(`${store.url}/v1/pets`, init)).status).toBe(413);
    expect(await recorded(key)).toEqual([]);
  });

  it('records that a call was to a deprecated operation, and adds up such calls', async () => {
    const created = await send(`${store.url}/v1/pets`, { method: 'POST', key: key.key, body: NEW_PET });
    const pet = `${store.url}${created.headers.get('location')}`;
    expect((await send(pet, { key: key.key })).status).toBe(200);
    expect((await send(pet, { method: 'HEAD', key: key.key })).status).toBe(200);
    expect((await send(`${store.url}/v1/pets/999999`, { key: key.key })).status).toBe(404);
    expect(await recorded(key)).toMatchObject([
      fresh('createPet', { '2xx': 1 }),
      { ...fresh('getPet', { '2xx': 2, '4xx': 1 }), deprecated: true },
    ]);
  });

  it('records a 429 as denied and as a client error', async () => {
    const single = await store.issue({ plan: 'enterprise', perMinute: 1, perDay: 10 });
    for (const status of [200, 429, 429]) {
      expect((await send(`${store.url}/v1/pets`, { key: single.key })).status).toBe(status);
    }
    expect((await send(`${store.url}/v1/dogs`, { key: single.key })).status).toBe(429);
    expect(await recorded(single)).toMatchObject([
      fresh('listPets', { '2xx': 1, '4xx': 2 }, 2),
      fresh('none', { '4xx': 1 }, 1),
    ]);
  });

  it('records a request whose count fails as a server error', async () => {
    await store.database.query('ALTER TABLE rate_limit_counters RENAME TO lost');
    const response = await send(`${store.url}/v1/pets`, { key: key.key });
    await store.database.query('ALTER TABLE lost RENAME TO rate_limit_counters');
    expect(response.status).toBe(503);
    expect(await recorded(key)).toMatchObject([fresh('listPets', { '5xx': 1 })]);
  });

  it.each([
    ['/v1/pets', 'LOCK TABLE pets', fresh('listPets', { '2xx': 1 })],
    ['/v1/%zz', 'LOCK TABLE rate_limit_counters', fresh('none', { '4xx': 1 })],
  ])(
    'records a request once when its client disconnects before the response, as the counter does: %s',
    async (path, lock, expected) => {
      const holder = await hold(store.database.url, lock);
      const { hostname, port } = new URL(store.url);
      const socket = net.connect(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key.key}\r\n\r\n`);
      await eventually(() => expectLocksWaitedFor(store.database, 1));
      socket.resetAndDestroy();
      await once(socket, 'close');
      await holder.letGo();
      await eventually(async () => expect(await recorded(key)).toMatchObject([expected]));
      const counters = await store.database.query(
        'SELECT day_used FROM rate_limit_counters WHERE bucket_key = $1',
        [`quota:${key.quotaId}`],
      );
      expect(counters).toEqual([{ day_used: 1 }]);
    },
  );

  it('records nothing for a request without a valid key, or to a path that needs none', async () => {
    const stored = async () => {
      await recordUsage(store);
      return (await store.app.get(UsageRepository).page({ ...ALL, period: 'day' })).entries;
    };
    const before = await stored();
    for (const [path, credential, status] of [
      ['/v1/pets', undefined, 401],
      ['/v1/pets', 'secret', 401],
      ['/v1/pets', `${key.key.slice(0, -1)}_`, 401],
      ['/v1/dogs', undefined, 401],
      ['/livez', key.key, 200],
      ['/openapi.json', key.key, 200],
      ['/elsewhere', key.key, 404],
    ] as const) {
      expect((await send(`${store.url}${path}`, { key: credential })).status).toBe(status);
    }
    expect((await sendRaw(store.url, 'no HTTP\r\n\r\n')).status).toBe(400);
    expect(await stored()).toEqual(before);
  });

  it('keeps usage by UTC minute, hour and day, with the time of its last request', async () => {
    for (const instant of [
      '2027-03-05T12:34:30Z',
      '2027-03-05T12:35:10Z',
      '2027-03-05T23:59:10Z',
      '2027-03-06T00:00:00Z',
    ]) {
      store.clock.travelTo(new Date(instant));
      await send(`${store.url}/v1/pets`, { key: key.key });
    }
    await recordUsage(store);
    const kept = async (period: 'minute' | 'hour' | 'day') => {
      const { entries: usage } = await store.app.get(UsageRepository).page({ ...ALL, period, keyId: key.id });
      return usage.map(({ startsAt, lastRequestAt, requests }) => {
        expect(lastRequestAt >= startsAt).toBe(true);
        return `${startsAt.slice(5, 16)} ${requests}`;
      });
    };
    expect(await kept('minute')).toEqual([
      '03-06T00:00 1',
      '03-05T23:59 1',
      '03-05T12:35 1',
      '03-05T12:34 1',
    ]);
    expect(await kept('hour')).toEqual(['03-06T00:00 1', '03-05T23:00 1', '03-05T12:00 2']);
    expect(await kept('day')).toEqual(['03-06T00:00 1', '03-05T00:00 3']);
  });

  it('writes usage within a second of the response, without a flush, for every reader', async () => {
    for (let sent = 1; sent <= 3; sent += 1) {
      await send(`${store.url}/v1/pets`, { key: key.key });
      await eventually(async () => {
        const { entries: usage } = await store.app
          .get(UsageRepository)
          .page({ ...ALL, period: 'day', keyId: key.id });
        expect(usage).toMatchObject([{ requests: sent }]);
      }, SECOND_MS);
    }
  });

  it('records the minute of the counter store, not the minute of this process', async () => {
    store.clock.stopAt(HALF_PAST);
    store.clock.travel(5 * MINUTE_MS);
    await send(`${store.url}/v1/pets`, { key: key.key });
    store.clock.goOn();
    await recordUsage(store);
    const { entries: usage } = await store.app
      .get(UsageRepository)
      .page({ ...ALL, period: 'minute', keyId: key.id });
    expect(usage).toMatchObject([{ startsAt: '2027-03-05T12:39:00.000Z', requests: 1 }]);
  });
});

describe('UsageRecorder, at shutdown', () => {
  it('writes what is not written yet, also requests that are served during the shutdown', async () => {
    const database = await createDatabase();
    const store = await startApplication({ database });
    const { key } = await store.issue(UNLIMITED);
    for (let sent = 0; sent < 5; sent += 1) {
      expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
    }
    const holder = await hold(database.url, 'LOCK TABLE pets');
    const response = sendRaw(
      store.url,
      `GET /v1/pets HTTP/1.1\r\nHost: test\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    await eventually(() => expectLocksWaitedFor(database, 1));
    const closed = store.app.close();
    await eventually(() => expect(fetch(`${store.url}/livez`)).rejects.toThrow('fetch failed'));
    await holder.letGo();
    expect((await response).status).toBe(200);
    await closed;
    await aggregateUsage(database.url);
    expect(await database.query("SELECT succeeded::int FROM usage WHERE period = 'minute'")).toEqual([
      { succeeded: 6 },
    ]);
    await database.drop();
  });
});

describe('usage of several replicas', () => {
  const NOON_MS = Date.UTC(2027, 2, 5, 12);
  let database: TestDatabase;
  let clock: TestClock;
  let opened: PrismaService[];
  let connections: PrismaService;
  let journal: UsageJournal;
  let repository: UsageRepository;
  let cleanup: UsageCleanup;

  beforeAll(async () => {
    database = await createDatabase();
    await database.followTestTime();
  });
  beforeEach(async () => {
    await database.query('TRUNCATE usage, usage_batches');
    clock = new TestClock();
    clock.returnToPresent();
    opened = [];
    ({ journal, repository, cleanup, prisma: connections } = open());
  });
  afterEach(() => Promise.all(opened.map((service) => service.onApplicationShutdown())));
  afterAll(() => database.drop());

  /** Opens one more replica. */
  function open(url = database.url, USAGE_MINUTE_RETENTION = 30 * DAY_MS) {
    const settings = { DATABASE_URL: url, DATABASE_POOL_SIZE: 3 };
    const prisma = new PrismaService(settings);
    opened.push(prisma);
    const ofReplica = new UsageJournal(prisma);
    return {
      prisma,
      journal: ofReplica,
      repository: new UsageRepository(prisma, ofReplica),
      cleanup: new UsageCleanup(prisma, { USAGE_MINUTE_RETENTION }),
    };
  }

  const entry = (facts: Partial<UsageEntry>): UsageEntry => ({
    keyId: randomUUID(),
    quotaId: randomUUID(),
    minute: NOON_MS / MINUTE_MS,
    operation: 'listPets',
    deprecated: false,
    ...NONE,
    succeeded: 1,
    lastRequestAtMs: NOON_MS,
    ...facts,
  });

  const toBatch = (...entries: UsageEntry[]) => ({ id: randomUUID(), size: entries.length, entries });
  const append = (...entries: UsageEntry[]) => journal.append(toBatch(...entries));

  /**
   * Returns the number of rows of these keys for each period, with the least and the greatest count of a row.
   */
  function countRows(entries: readonly UsageEntry[]) {
    return database.query(
      `SELECT period, count(*)::int, min(succeeded)::int, max(succeeded)::int FROM usage
       WHERE key_id = ANY ($1::uuid[])
       GROUP BY period ORDER BY array_position('{minute,hour,day}', period)`,
      [entries.map(({ keyId }) => keyId)],
    );
  }
  const each = (count: number, sum: number) =>
    ['minute', 'hour', 'day'].map((period) => ({ period, count, min: sum, max: sum }));

  it('adds up without a deadlock if two replicas write and aggregate rows in opposite order', async () => {
    const other = open();
    const entries = Array.from({ length: 200 }, (_, index) =>
      entry({ minute: NOON_MS / MINUTE_MS + (index % 7) }),
    );
    const more = Array.from({ length: 500 }, () => entry({}));
    for (let turn = 1; turn <= 25; turn += 1) {
      await Promise.all([
        append(...entries).then(() => journal.aggregate()),
        // The batch also has rows of its own, so that only the ORDER BY of the aggregation gives both the
        // same order.
        other.journal.append(toBatch(...more, ...entries.toReversed())).then(() => other.journal.aggregate()),
      ]);
    }
    expect(await countRows(entries)).toEqual(each(200, 50));
  });

  it('adds a batch once when it is retried concurrently, and again after its aggregation', async () => {
    const one = entry({});
    const batch = toBatch(one);
    await Promise.all([journal.append(batch), open().journal.append(batch), open().journal.append(batch)]);
    await append(one);
    await journal.append(batch);
    await journal.aggregate();
    await journal.append(batch);
    await journal.aggregate();
    expect(await countRows([one])).toEqual(each(1, 2));
  });

  describe('UsageJournal', () => {
    /** Blocks every aggregation after it has taken its batches. */
    async function holdAggregations(one: UsageEntry): Promise<Hold> {
      await append(one);
      await journal.aggregate();
      return hold(database.url, 'SELECT 1 FROM usage FOR UPDATE');
    }

    const batches = () => database.query('SELECT id FROM usage_batches WHERE size > 0');

    it('makes readers wait for one shared aggregation in progress, so that they see all usage', async () => {
      const one = entry({});
      const holder = await holdAggregations(one);
      await append(one);
      const aggregated = open().journal.aggregate();
      await eventually(() => expectLocksWaitedFor(database, 1));
      await append(one);
      const readers = [open().repository, ...Array<UsageRepository>(10).fill(repository)];
      const pages = Promise.all(readers.map((reader) => reader.page({ ...ALL, period: 'day' })));
      await eventually(() => expectLocksWaitedFor(database, 3));
      // The ten readers of one replica leave connections to others.
      expect(await connections.$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
      await holder.letGo();
      await aggregated;
      expect(await pages).toMatchObject(readers.map(() => ({ entries: [{ requests: 3 }] })));
      expect(await batches()).toStrictEqual([]);
    });

    it('aggregates each batch once when the server still aggregates for a lost connection', async () => {
      const one = entry({});
      const holder = await holdAggregations(one);
      const proxy = await startDatabaseProxy(database.url);
      const cut = open(proxy.url);
      await append(one);
      const outcome = cut.journal.aggregate().catch((error: unknown) => error);
      await eventually(() => expectLocksWaitedFor(database, 1));
      proxy.goAway();
      expect(await outcome).toMatchObject({ message: expect.stringContaining('Connection terminated') });
      const again = journal.aggregate();
      await eventually(() => expectLocksWaitedFor(database, 2));
      await holder.letGo();
      await again;
      expect(await countRows([one])).toEqual(each(1, 2));
    });

    it('aggregates a huge backlog in parts, even if two replicas aggregate at once', async () => {
      const entries = Array.from({ length: 1000 }, () => entry({}));
      await database.query(
        `INSERT INTO usage_batches SELECT gen_random_uuid(), now() - n * interval '1 minute', 1000, $1 ` +
          'FROM generate_series(1, 25) AS n',
        [JSON.stringify(entries)],
      );
      expect(await journal.aggregateSome()).toBe(true);
      expect(await batches()).toHaveLength(15);
      const other = open();
      await Promise.all([journal.aggregate(), other.journal.aggregate()]);
      expect(await batches()).toStrictEqual([]);
      expect(await countRows(entries)).toEqual(each(1000, 25));
    });

    it('aggregates a minute within 5 seconds of its end without readers, and retries a failure', async () => {
      clock.travelTo(new Date(NOON_MS + 30_000));
      const one = entry({});
      await append(one);
      const warnings = jest.spyOn(journal['logger'], 'warn').mockImplementation();
      const turn = jest.spyOn(journal, 'aggregateSome');
      fakeIntervals();
      journal.onModuleInit();
      jest.advanceTimersByTime(5 * SECOND_MS);
      expect(turn.mock.calls).toEqual([['this minute']]);
      await turn.mock.results[0]?.value;
      expect(await batches()).toHaveLength(1);

      clock.travelTo(new Date(NOON_MS + MINUTE_MS));
      const next = toBatch(one);
      await journal.append(next);
      await database.query('ALTER TABLE usage RENAME TO lost');
      // An aggregation in progress is not started again.
      await new Promise(setImmediate);
      jest.advanceTimersByTime(5 * SECOND_MS);
      const logged: unknown = expect.stringMatching(/^Could not aggregate usage: .*usage/);
      await eventually(async () => expect(warnings.mock.calls).toEqual([[logged]]));

      await database.query('ALTER TABLE lost RENAME TO usage');
      await new Promise(setImmediate);
      jest.advanceTimersByTime(5 * SECOND_MS);
      jest.useRealTimers();
      await eventually(async () => expect(await batches()).toEqual([{ id: next.id }]));
      expect(await countRows([one])).toEqual(each(1, 1));
      await journal.onApplicationShutdown();
    });
  });

  it('adds the counts of every class, also beyond 32 bits, and keeps the latest time', async () => {
    const most = 2_147_483_647;
    const one = entry({ succeeded: most, redirected: 2, clientErrors: most, serverErrors: 4, denied: 2 });
    for (const lastRequestAtMs of [NOON_MS + 2, NOON_MS + 8, NOON_MS + 5]) {
      await append({ ...one, lastRequestAtMs }, entry({}));
    }
    for (const period of ['minute', 'hour', 'day'] as const) {
      const page = await repository.page({ ...ALL, period, keyId: one.keyId });
      expect(page.entries).toEqual([
        {
          ...fresh('listPets', { '2xx': 6_442_450_941, '3xx': 6, '4xx': 6_442_450_941, '5xx': 12 }, 6),
          startsAt: new Date(period === 'day' ? Date.UTC(2027, 2, 5) : NOON_MS).toISOString(),
          keyId: one.keyId,
          quotaId: one.quotaId,
          externalId: null,
          requests: 12_884_901_900,
          lastRequestAt: new Date(NOON_MS + 8).toISOString(),
        },
      ]);
    }
  });

  it('returns the callers of deprecated operations by operation and key, and no other callers', async () => {
    const { id: keyId, quotaId, prefix, lastFour } = await issueKey(database, { name: 'Nightly import' });
    const of = { keyId, quotaId, operation: 'getPet' };
    const externalId = null;
    const gone = entry({ operation: 'getPet', deprecated: true });
    const days = [0, 1, 2].map((day) => {
      const lastRequestAtMs = NOON_MS - day * DAY_MS;
      return entry({
        ...of,
        deprecated: true,
        minute: lastRequestAtMs / MINUTE_MS,
        lastRequestAtMs,
        clientErrors: day,
      });
    });
    await append(...days, gone, entry({ keyId, quotaId }), entry({ ...of, lastRequestAtMs: NOON_MS + 9000 }));
    const lastCalledAt = new Date(NOON_MS).toISOString();
    const callers = [
      { ...of, externalId, keyName: 'Nightly import', prefix, lastFour, requests: 6, lastCalledAt },
      {
        ...of,
        keyId: gone.keyId,
        quotaId: gone.quotaId,
        externalId,
        keyName: null,
        prefix: null,
        lastFour: null,
        requests: 1,
        lastCalledAt,
      },
    ].toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
    expect(await repository.deprecatedCallers({ limit: 10 })).toEqual({ entries: callers, last: null });
    expect(await repository.deprecatedCallers({ limit: 1 })).toEqual({
      entries: callers.slice(0, 1),
      last: callers[0],
    });
    // A caller that calls again meanwhile keeps its position.
    await append(entry({ ...gone, keyId: callers[1]?.keyId ?? '', lastRequestAtMs: NOON_MS + 7000 }));
    expect(await repository.deprecatedCallers({ limit: 1, cursor: callers[0]! })).toMatchObject({
      entries: [{ keyId: callers[1]?.keyId, lastCalledAt: new Date(NOON_MS + 7000).toISOString() }],
      last: null,
    });
  });

  describe('UsageCleanup', () => {
    const NOW = new Date('2028-03-05T12:34:30.000Z');

    beforeEach(() => clock.travelTo(NOW));

    async function insert(period: string, startsAt: string): Promise<void> {
      await database.query(
        "INSERT INTO usage VALUES ($1, $1, $2, $3, 'listPets', false, 1, 0, 0, 0, 0, now())",
        [randomUUID(), period, startsAt],
      );
    }

    async function left(): Promise<string[]> {
      const rows = await database.query<{ start: Date }>('SELECT starts_at AS start FROM usage ORDER BY 1');
      return rows.map(({ start }) => start.toISOString());
    }

    it.each([
      ['minutes 30 days', 'minute', '2028-02-04T12:33:00.000Z', '2028-02-04T12:34:00.000Z'],
      ['hours 35 days', 'hour', '2028-01-30T11:00:00.000Z', '2028-01-30T12:00:00.000Z'],
      ['days 400 days', 'day', '2027-01-29T00:00:00.000Z', '2027-01-30T00:00:00.000Z'],
    ])('keeps %s after they are over, exact to the row', async (_name, period, over, kept) => {
      await insert(period, '2026-01-01T00:00:00Z');
      await insert(period, over);
      await insert(period, kept);
      await insert(period, NOW.toISOString());
      expect(await cleanup.deleteExpired()).toBe(false);
      expect(await left()).toEqual([kept, NOW.toISOString()]);
    });

    it('keeps minutes for USAGE_MINUTE_RETENTION after they are over, and hours as always', async () => {
      const [kept, hour] = ['2028-03-03T12:34:00.000Z', '2028-03-01T00:00:00.000Z'];
      await insert('minute', '2028-03-03T12:33:00.000Z');
      await insert('minute', kept);
      await insert('hour', hour);
      await open(database.url, 2 * DAY_MS).cleanup.deleteExpired();
      expect(await left()).toEqual([hour, kept]);
    });

    it('keeps an aggregated batch for an hour, in which it may be sent again', async () => {
      await database.query('TRUNCATE usage_batches');
      await append(entry({}));
      clock.travel(59 * MINUTE_MS);
      await cleanup.deleteExpired();
      await journal.aggregate();
      await cleanup.deleteExpired();
      expect(await database.query('SELECT size FROM usage_batches')).toEqual([{ size: 0 }]);
      clock.travel(MINUTE_MS + 1);
      await cleanup.deleteExpired();
      expect(await database.query('SELECT size FROM usage_batches')).toStrictEqual([]);
    });

    it('removes a limited number of rows at a time, and reports whether there are more', async () => {
      await database.query(
        `INSERT INTO usage
         SELECT gen_random_uuid(), gen_random_uuid(), 'minute', to_timestamp(n * 60), 'listPets', false,
           1, 0, 0, 0, 0, now()
         FROM generate_series(1, 7000) AS n`,
      );
      expect(await cleanup.deleteExpired()).toBe(true);
      expect(await left()).toHaveLength(2000);
      expect(await cleanup.deleteExpired()).toBe(false);
      expect(await left()).toStrictEqual([]);
    });

    it('skips rows that are being written, and does not wait for them', async () => {
      await insert('minute', '2026-01-01T00:00:00.000Z');
      await insert('minute', '2026-01-02T00:00:00.000Z');
      const holder = await hold(
        database.url,
        "UPDATE usage SET succeeded = 2 WHERE starts_at = '2026-01-02T00:00:00Z'",
      );
      await cleanup.deleteExpired();
      expect(await left()).toEqual(['2026-01-02T00:00:00.000Z']);
      await holder.letGo();
      await cleanup.deleteExpired();
      expect(await left()).toStrictEqual([]);
    });

    it('runs every minute', async () => {
      await insert('minute', '2026-01-01T00:00:00Z');
      fakeIntervals();
      cleanup.onModuleInit();
      jest.advanceTimersByTime(MINUTE_MS - 1);
      await insert('minute', '2026-01-02T00:00:00Z');
      expect(await left()).toHaveLength(2);
      jest.advanceTimersByTime(1);
      jest.useRealTimers();
      await eventually(async () => expect(await left()).toStrictEqual([]));
      await cleanup.onApplicationShutdown();
    });
  });
});
