import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { InvalidEnvironmentError, readEnvironment } from '../src/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import { CounterStoreError } from '../src/rate-limit/stores/counter-store.js';
import { RedisCounterStore } from '../src/rate-limit/stores/redis-counter-store.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from './support/application.js';
import { TestClock } from './support/clock.js';
import { eventually, until } from './support/eventually.js';
import { freePort } from './support/free-port.js';
import { expectError } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { hasRedis, type RedisServer, startRedis } from './support/redis.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PREFIX = 'animal-store:staging';
/** What a question to a server that is away, or says nothing, may take: the deadline of an answer, and some more. */
const QUICK_MS = 1000;

const describeWithRedis = hasRedis() ? describe : describe.skip;

let clock: TestClock;
let opened: RedisCounterStore[] = [];
let subjects = 0;

beforeAll(() => Logger.overrideLogger(false));
beforeEach(() => {
  clock = new TestClock();
  clock.travelToMinuteStart();
});
afterEach(() => {
  opened.forEach((store) => store.onApplicationShutdown());
  opened = [];
});

/** The counter store of one more replica. */
async function open(COUNTER_STORE: string): Promise<RedisCounterStore> {
  const store = new RedisCounterStore(readEnvironment({ COUNTER_STORE }), clock);
  opened.push(store);
  await store.onModuleInit();
  return store;
}

function newSubject(perMinute = 60, perDay: number | null = 1000): RateLimitRequest {
  subjects += 1;
  return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
}

const keyOf = ({ bucketKey }: RateLimitRequest) => `${PREFIX}:{${bucketKey}}`;
const takeTimes = (store: RedisCounterStore, ask: RateLimitRequest, count: number) =>
  Promise.all(Array.from({ length: count }, () => store.consume(ask)));
const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);

const connectionsSoFar = async ({ operator }: RedisServer) =>
  Number(/total_connections_received:(\d+)/.exec(await operator.info('stats'))?.[1]);

/** Why it was rejected, which did not take long. */
async function quickRefusal(question: Promise<unknown>): Promise<unknown> {
  const start = performance.now();
  const reason = await question.then(
    (answer) => expect(answer).toBe('a refusal'),
    (error: unknown) => error,
  );
  expect(performance.now() - start).toBeLessThan(QUICK_MS);
  return reason;
}

describeWithRedis('counting in Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it('keeps one hash for each subject, whose key says what it is', async () => {
    const store = await open(server.url);
    const [ask, stranger] = [newSubject(), newSubject(300, null)];
    await Promise.all(
      [...Array(20).fill(ask), ...Array(20).fill(stranger)].map((each) => store.consume(each)),
    );
    expect(await server.operator.keys(`*:{${ask.bucketKey}}*`)).toEqual([keyOf(ask)]);
    expect(await server.operator.type(keyOf(ask))).toBe('hash');
    expect(await server.operator.hgetall(keyOf(stranger))).toMatchObject({ minuteUsed: '20' });
  });

  describe('expires', () => {
    const NOON = Date.UTC(2027, 2, 5, 12);
    /** When a key goes, by the clock of the test. */
    const expiryOf = async (ask: RateLimitRequest) => clock.now() + (await server.operator.pttl(keyOf(ask)));
    const expectAbout = (actual: number, expected: number) => {
      expect(actual).toBeGreaterThan(expected - 5000);
      expect(actual).toBeLessThan(expected + 5000);
    };

    beforeEach(() => clock.travelTo(new Date(NOON)));

    it('a stranger ten minutes after its minute', async () => {
      const ask = newSubject(300, null);
      await (await open(server.url)).consume(ask);
      expectAbout(await expiryOf(ask), NOON + 11 * MINUTE_MS);
    });

    it('a quota a day after its day', async () => {
      const ask = newSubject();
      await (await open(server.url)).consume(ask);
      expectAbout(await expiryOf(ask), Date.UTC(2027, 2, 7));
    });

    it('a quota on the ladder once that has fallen to the ground, also where its ban was lifted', async () => {
      const store = await open(server.url);
      const ask = newSubject(1);
      for (const [index, minutes] of [1, 5, 60, 24 * 60].entries()) {
        await takeTimes(store, ask, 3);
        const endsMs = clock.now() + minutes * MINUTE_MS;
        expectAbout(await expiryOf(ask), Math.max(endsMs + (index + 1) * DAY_MS, Date.UTC(2027, 2, 7)));
        clock.travelTo(new Date(Math.ceil(endsMs / MINUTE_MS) * MINUTE_MS));
      }
      clock.travel(-DAY_MS / 2);
      await store.liftBan(ask.bucketKey);
      expect(await server.operator.pttl(keyOf(ask))).toBeGreaterThan(4 * DAY_MS);
    });

    it('whatever was added, also where its windows are over', async () => {
      const store = await open(server.url);
      const [quota, stranger, late] = [newSubject(), newSubject(300, null), newSubject(300, null)];
      const now = { minute: NOON / MINUTE_MS, day: Math.floor(NOON / DAY_MS) };
      const taken = { ...now, minuteUsed: 1, dayUsed: 1 };
      await store.reconcile([
        { ...quota, ...taken },
        { ...stranger, ...taken },
        { ...late, ...taken, minute: now.minute - 60 },
      ]);
      expectAbout(await expiryOf(quota), Date.UTC(2027, 2, 7));
      expectAbout(await expiryOf(stranger), NOON + 11 * MINUTE_MS);
      expectAbout(await expiryOf(late), NOON + MINUTE_MS);
    });

    it('every key there is', async () => {
      const keys = await server.operator.keys('*');
      const expiries = await Promise.all(keys.map((key) => server.operator.pttl(key)));
      expect(expiries.length).toBeGreaterThan(6);
      expect(Math.min(...expiries)).toBeGreaterThan(0);
    });
  });

  it('sends its scripts by their hash, and whole again after the server has forgotten them', async () => {
    const store = await open(server.url);
    const ask = newSubject(60, 1000);
    await store.consume(ask);
    await server.operator.config('RESETSTAT');
    await takeTimes(store, ask, 10);
    expect(await server.operator.info('commandstats')).not.toContain('cmdstat_eval:');

    await server.operator.script('FLUSH');
    const [first, ...others] = await Promise.all([
      store.consume(newSubject()),
      ...Array.from({ length: 20 }, () => store.consume(ask)),
      ...Array.from({ length: 50 }, () => store.consume(newSubject())),
    ]);
    expect(first?.allowed).toBe(true);
    expect(others.slice(0, 20).map(remaining)).toEqual(
      Array.from({ length: 20 }, (_, index) => [48 - index, 988 - index]),
    );
    await server.operator.script('FLUSH');
    expect(await store.liftBan(ask.bucketKey)).toBeNull();
    expect(remaining(await store.peek(ask))).toEqual([29, 969]);
  });

  it('lists bans among thousands of other keys', async () => {
    const store = await open(server.url);
    const rude = newSubject(1);
    await takeTimes(store, rude, 3);
    await Promise.all(
      Array.from({ length: 5000 }, () => store.consume(newSubject(5, Math.random() < 0.5 ? null : 5))),
    );
    const bans = await store.bans();
    expect(bans.get(rude.bucketKey)).toEqual(new Date((await store.peek(rude)).ban?.untilMs ?? 0));
    expect([...bans.values()].every((end) => end.getTime() > clock.now())).toBe(true);
  });

  it('asks for bans in steps, behind none of which counting waits long', async () => {
    const store = await open(server.url);
    await Promise.all(Array.from({ length: 8000 }, () => store.consume(newSubject())));
    const client = store['connection']['client'] as Redis;
    const ask = client.hget.bind(client);
    let [waiting, most] = [0, 0];
    jest.spyOn(client, 'hget').mockImplementation(async (key, field) => {
      waiting += 1;
      most = Math.max(most, waiting);
      const value = await ask(String(key), String(field));
      waiting -= 1;
      return value;
    });
    await store.bans();
    expect(most).toBeGreaterThan(0);
    // One step may find some more keys than it is to pass.
    expect(most).toBeLessThan(1500);
  });

  it('lists bans beside what is no counter', async () => {
    const [store, rude, spoilt] = [await open(server.url), newSubject(1), newSubject()];
    await takeTimes(store, rude, 3);
    await server.operator.set(keyOf(spoilt), 'no counter');
    const bans = await store.bans();
    expect(bans.has(rude.bucketKey)).toBe(true);
    expect(bans.has(spoilt.bucketKey)).toBe(false);
    await server.operator.del(keyOf(spoilt));
  });

  it('is not shared by staging and production', async () => {
    const staging = await open(server.url);
    const production = new RedisCounterStore(
      readEnvironment({ COUNTER_STORE: server.url, APP_ENV: 'production' }),
      clock,
    );
    opened.push(production);
    await production.onModuleInit();
    const ask = newSubject(1, null);
    expect(await Promise.all([staging.consume(ask), production.consume(ask)])).toMatchObject([
      { allowed: true },
      { allowed: true },
    ]);
  });

  it('tells what is no counter by the error of the server, and the other asks of the question are answered', async () => {
    const store = await open(server.url);
    const [broken, whole] = [newSubject(), newSubject()];
    await server.operator.set(keyOf(broken), 'no hash', 'PX', MINUTE_MS);
    const [, wrong, right] = await Promise.allSettled(
      [newSubject(), broken, whole].map((ask) => store.consume(ask)),
    );
    expect(wrong).toMatchObject({
      status: 'rejected',
      reason: { kind: 'wrongType', message: expect.stringContaining('WRONGTYPE') },
    });
    await server.operator.del(keyOf(broken));
    expect(right).toMatchObject({ status: 'fulfilled', value: { allowed: true } });
  });

  describe('a hash with huge numbers', () => {
    const MAX_COUNT = 2_147_483_647;
    const stored = (ask: RateLimitRequest) => server.operator.hgetall(keyOf(ask));
    const now = () => ({
      minute: Math.floor(clock.now() / MINUTE_MS),
      day: Math.floor(clock.now() / DAY_MS),
    });

    it.each(['2147483646', '9007199254740993', '9223372036854775807', '1e300', 'inf', 'nan'])(
      'of %s requests leaves nothing remaining, and is added to as far as a count goes',
      async (huge) => {
        const store = await open(server.url);
        const ask = newSubject();
        await store.consume(ask);
        await server.operator.hset(keyOf(ask), 'minuteUsed', '7', 'dayUsed', huge);
        expect(remaining(await store.peek(ask))).toEqual([53, 0]);
        const denied = await store.consume(ask);
        expect([denied.allowed, denied.refusalsUntilBan, ...remaining(denied)]).toEqual([false, 59, 53, 0]);
        for (let round = 1; round <= 2; round += 1) {
          await store.reconcile([{ ...ask, ...now(), minuteUsed: 2, dayUsed: 2 }]);
          expect(await stored(ask)).toMatchObject({
            minuteUsed: String(7 + 2 * round),
            dayUsed: String(MAX_COUNT),
          });
        }
      },
    );

    it('of a count below zero has used nothing', async () => {
      const store = await open(server.url);
      const ask = newSubject();
      await store.consume(ask);
      await server.operator.hset(keyOf(ask), 'dayUsed', '-1e300');
      expect(remaining(await store.consume(ask))).toEqual([58, 999]);
    });

    it.each([
      ['minute', '1e17'],
      ['day', '99999999999'],
      ['bannedUntil', '1e300'],
    ])('in place of its %s is no counter, and changes nothing', async (field, huge) => {
      const store = await open(server.url);
      const ask = newSubject();
      await store.consume(ask);
      await server.operator.hset(keyOf(ask), field, huge);
      const before = await stored(ask);
      for (const question of [store.consume(ask), store.peek(ask)]) {
        await expect(question).rejects.toMatchObject({ kind: 'wrongType' });
      }
      await expect(
        store.reconcile([{ ...ask, ...now(), minuteUsed: 2, dayUsed: 2 }]),
      ).resolves.toBeUndefined();
      expect(await stored(ask)).toEqual(before);
      await server.operator.del(keyOf(ask));
    });
  });

  it('serves the whole service over HTTP, and lifts a ban there', async () => {
    // Else bans of other tests would be there, of quotas that are none.
    await server.operator.flushall();
    const COUNTER_STORE = readEnvironment({ COUNTER_STORE: server.url }).COUNTER_STORE;
    const service = await startApplication({ environment: { COUNTER_STORE } });
    try {
      const { key, id } = await service.issue({ plan: 'enterprise', perMinute: 3, perDay: 100 });
      const { key: admin } = await service.issue({ role: 'admin' });
      const url = `${service.url}/v1/pets`;
      const statuses: string[] = [];
      for (let sent = 0; sent < 7; sent += 1) {
        const { status, json } = await send(url, { key });
        statuses.push([status, json.code].join(' ').trim());
      }
      expect(statuses).toEqual([
        ...Array(3).fill('200'),
        ...Array(2).fill('429 rate_limit_exceeded'),
        ...Array(2).fill('429 api_key_banned'),
      ]);
      expect(await service.database.query('SELECT 1 FROM rate_limit_counters')).toEqual([]);
      const listed = await send(`${service.url}/admin/keys?banned=true`, { key: admin });
      expect(listed.json.data ?? listed.json).toMatchObject([{ id }]);
      const lifted = await send(`${service.url}/admin/keys/${id}/unban`, { method: 'POST', key: admin });
      expect(lifted.status).toBe(200);
      service.clock.travel(MINUTE_MS);
      expect((await send(url, { key })).headers.get('x-ratelimit-remaining')).toBe('2');
    } finally {
      await service.close();
    }
    await until(async () => !String(await server.operator.client('LIST')).includes('animal-store-counters'));
  });
});

describeWithRedis('a Redis that may forget', () => {
  it.each(['allkeys-lru', 'volatile-ttl'])(
    'by %s ends the start, and the reason says what to set',
    async (policy) => {
      const server = await startRedis({ 'maxmemory-policy': policy });
      try {
        const reason = await open(server.url).catch((error: unknown) => error);
        expect(reason).toBeInstanceOf(InvalidEnvironmentError);
        expect((reason as Error).message).toBe(
          `COUNTER_STORE: 127.0.0.1:${server.port} has the maxmemory-policy ${policy}, by which counts and bans are forgotten when memory is full; set maxmemory-policy to noeviction`,
        );
      } finally {
        await server.stop();
      }
    },
  );

  it('is told by CONFIG where INFO is not permitted, and is not counted in where neither is', async () => {
    // The driver itself says there that INFO is not permitted.
    const consoleWarn = jest.spyOn(console, 'warn').mockReturnValue();
    const server = await startRedis({ 'maxmemory-policy': 'allkeys-lfu' });
    try {
      const url = server.url.replace('redis://', 'redis://store:secret@');
      await server.operator.acl('SETUSER', 'store', 'on', '>secret', '~*', '+@all', '-info');
      await expect(open(url)).rejects.toThrow('maxmemory-policy allkeys-lfu');
      await server.operator.acl('SETUSER', 'store', '-config');
      await expect(open(url)).rejects.toThrow('allow one of them');
      await server.operator.config('SET', 'maxmemory-policy', 'noeviction');
      await server.operator.acl('SETUSER', 'store', '+config');
      expect((await (await open(url)).consume(newSubject())).allowed).toBe(true);
    } finally {
      consoleWarn.mockRestore();
      await server.stop();
    }
  });
});

describeWithRedis('several addresses', () => {
  it('of what is no Cluster end the start', async () => {
    const server = await startRedis();
    try {
      await expect(open(`${server.url},redis://localhost:${server.port}`)).rejects.toThrow(
        'COUNTER_STORE has several addresses, which only a Cluster may have',
      );
    } finally {
      await server.stop();
    }
  });
});

describeWithRedis('a Redis that is away', () => {
  it('does not end the start: questions fail at once until it is there', async () => {
    const port = await freePort();
    const store = await open(`redis://127.0.0.1:${port}`);
    const ask = newSubject();
    for (const question of [
      () => store.consume(ask),
      () => store.peek(ask),
      () => store.reconcile([]),
      () => store.bans(),
      () => store.liftBan('x'),
    ]) {
      const reason = await quickRefusal(question());
      expect(reason).toBeInstanceOf(CounterStoreError);
      expect(reason).toMatchObject({ kind: 'noConnection' });
      expect((reason as Error).message).toContain('ECONNREFUSED');
    }
    const server = await startRedis({}, port);
    try {
      await eventually(async () => expect((await store.consume(ask)).allowed).toBe(true));
    } finally {
      await server.stop();
    }
  });

  it('after it was there fails questions at once, counts nothing twice, and is found again', async () => {
    const first = await startRedis();
    const store = await open(first.url);
    const ask = newSubject();
    await store.consume(ask);
    await first.stop();
    await until(() =>
      store.consume(ask).then(
        () => false,
        () => true,
      ),
    );
    const reasons = await Promise.all(Array.from({ length: 50 }, () => quickRefusal(store.consume(ask))));
    expect(new Set(reasons.map((reason) => reason instanceof CounterStoreError))).toEqual(new Set([true]));
    const second = await startRedis({}, first.port);
    try {
      await eventually(async () => expect(remaining(await store.consume(ask))).toEqual([59, 999]));
      expect(remaining(await store.consume(ask))).toEqual([58, 998]);
    } finally {
      await second.stop();
    }
  });

  it('because it says nothing fails questions within the deadline, and is used again once it speaks', async () => {
    const server = await startRedis();
    try {
      const store = await open(server.url);
      await store.consume(newSubject());
      server.pause();
      const asked = [quickRefusal(store.consume(newSubject())), quickRefusal(store.reconcile([]))];
      await nextTurn();
      const [reason, other, gathered] = await Promise.all([
        ...asked,
        quickRefusal(store.consume(newSubject())),
      ]);
      expect([reason, other, gathered]).toMatchObject([
        { kind: 'outcomeUnknown' },
        { kind: 'outcomeUnknown' },
        { kind: 'notSent' },
      ]);
      // Whichever is the first to be late takes the connection of the other with it.
      const messages = [reason, other].map((each) => (each as Error).message);
      expect(messages).toContainEqual(expect.stringMatching(/no answer within 500 ms/));
      await pause(1500);
      await quickRefusal(store.consume(newSubject()));
      server.goOn();
      await eventually(async () => expect((await store.consume(newSubject())).allowed).toBe(true));
    } finally {
      server.goOn();
      await server.stop();
    }
  });

  it('because it says nothing is not waited for by who asks for bans', async () => {
    const server = await startRedis();
    try {
      const store = await open(server.url);
      await store.bans();
      server.pause();
      expect(await quickRefusal(store.bans())).toMatchObject({ kind: 'outcomeUnknown' });
    } finally {
      server.goOn();
      await server.stop();
    }
  });

  it('because it may not write fails all asks of a question by one error, and none is counted', async () => {
    const server = await startRedis();
    try {
      const store = await open(server.url);
      const asks = [newSubject(), newSubject(), newSubject()];
      await store.consume(asks[0] as RateLimitRequest);
      await server.operator.config('SET', 'maxmemory', '1');
      const first = store.consume(newSubject());
      await nextTurn();
      const outcomes = await Promise.allSettled([first, ...asks.map((ask) => store.consume(ask))]);
      expect(outcomes).toMatchObject([
        { reason: { kind: 'failed', message: expect.stringContaining('OOM') } },
        ...asks.map(() => ({ reason: { kind: 'notSent' } })),
      ]);
      const together = await Promise.allSettled([...asks, ...asks].map((ask) => store.consume(ask)));
      const reasons = together.slice(1).map((outcome) => outcome.status === 'rejected' && outcome.reason);
      expect(new Set(reasons).size).toBe(1);
      const now = { minute: Math.floor(clock.now() / MINUTE_MS), day: Math.floor(clock.now() / DAY_MS) };
      const taken = { ...(asks[0] as RateLimitRequest), ...now, minuteUsed: 1, dayUsed: 1 };
      expect(await quickRefusal(store.reconcile([taken]))).toMatchObject({ kind: 'failed' });
      await server.operator.config('SET', 'maxmemory', '0');
      expect(remaining(await store.consume(asks[0] as RateLimitRequest))).toEqual([58, 998]);
    } finally {
      await server.stop();
    }
  });

  it.each([800, 1200, 2500])(
    'only because this process was held up itself for %i ms is none: what has arrived meanwhile is read',
    async (heldUpMs) => {
      const server = await startRedis();
      const warn = jest.spyOn(Logger.prototype, 'warn');
      try {
        const store = await open(server.url);
        await store.consume(newSubject());
        const answer = store.consume(newSubject());
        const heldUpTo = performance.now() + heldUpMs;
        while (performance.now() < heldUpTo) {
          // Nothing else happens in this process.
        }
        expect((await answer).allowed).toBe(true);
        expect((await store.consume(newSubject())).allowed).toBe(true);
        expect(warn).not.toHaveBeenCalled();
      } finally {
        warn.mockRestore();
        await server.stop();
      }
    },
  );

  it('for one reason after the other tells each in the log once, and the last to whoever asks', async () => {
    const server = await startRedis();
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const lines = () => warn.mock.calls.map(([line]) => String(line));
    try {
      await server.operator.acl('SETUSER', 'store', 'on', '>first', '~*', '+@all');
      const store = await open(server.url.replace('redis://', 'redis://store:first@'));
      expect((await store.consume(newSubject())).allowed).toBe(true);
      await server.operator.acl('SETUSER', 'store', 'resetpass', '>second');
      await server.operator.client('KILL', 'USER', 'store');
      await until(() => lines().some((line) => line.includes('WRONGPASS')));
      const reason = await quickRefusal(store.consume(newSubject()));
      expect(reason).toMatchObject({ kind: 'noConnection', message: expect.stringContaining('WRONGPASS') });
      // Some more tries, each of which fails for the same reason.
      const before = await connectionsSoFar(server);
      await until(async () => (await connectionsSoFar(server)) >= before + 3);
      expect(lines().filter((line) => line.includes('WRONGPASS'))).toHaveLength(1);
      await server.operator.acl('SETUSER', 'store', '>first');
      await eventually(async () => expect((await store.consume(newSubject())).allowed).toBe(true));
      expect(lines().at(-1)).toBe('Redis is there again');
    } finally {
      warn.mockRestore();
      await server.stop();
    }
  });

  it('leaves no connection behind when the service ends', async () => {
    const server = await startRedis();
    try {
      const store = await open(server.url);
      await store.consume(newSubject());
      store.onApplicationShutdown();
      await until(
        async () => !String(await server.operator.client('LIST')).includes('animal-store-counters'),
      );
      expect(await quickRefusal(store.consume(newSubject()))).toBeInstanceOf(CounterStoreError);
    } finally {
      await server.stop();
    }
  });
});

describeWithRedis('a Redis that is away under a running service', () => {
  let server: RedisServer;
  let service: TestApplication;
  let key: IssuedKey;
  let other: IssuedKey;

  beforeEach(async () => {
    server = await startRedis();
    const { COUNTER_STORE } = readEnvironment({ COUNTER_STORE: server.url });
    service = await startApplication({ environment: { COUNTER_STORE } });
    key = await service.issue({ plan: 'enterprise', perMinute: 60, perDay: 1000 });
    other = await service.issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
  });
  afterEach(async () => {
    server.goOn();
    await service.close();
    await server.stop();
  });

  const call = ({ key: its } = key) => send(`${service.url}/v1/pets`, { key: its });
  const isDegraded = ({ headers }: Answer) => headers.get('x-ratelimit-degraded') === 'true';
  const left = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));
  /** Waits until Redis counts again; another key asks, so that the counts of the first stay as they are. */
  const recovered = () => until(async () => !isDegraded(await call(other)));
  const stored = async () => {
    const [minute, day] = await server.operator.hmget(
      `${PREFIX}:{quota:${key.quotaId}}`,
      'minuteUsed',
      'dayUsed',
    );
    return { minute: Number(minute), day: Number(day) };
  };

  it('as it was killed: requests are served and told so, and what was allowed is added to the one that comes', async () => {
    const { port } = server;
    for (const remains of [59, 58, 57, 56, 55]) {
      const answer = await call();
      expect([answer.status, isDegraded(answer), left(answer)]).toEqual([200, false, remains]);
    }
    await server.stop();
    await until(async () => isDegraded(await call(other)));
    const answers: Answer[] = [];
    for (let sent = 0; sent < 57; sent += 1) {
      answers.push(await call());
    }
    expect(answers.every(isDegraded)).toBe(true);
    expect(answers.map(({ status }) => status)).toEqual([...Array(55).fill(200), 429, 429]);
    expect(answers.slice(0, 55).map(left)).toEqual(Array.from({ length: 55 }, (_, index) => 54 - index));
    const admin = await service.issue({ role: 'admin', plan: 'business' });
    const listed = await send(`${service.url}/admin/keys?banned=true`, { key: admin.key });
    expectError(listed, 503, 'service_unavailable');
    expect(listed.text).not.toMatch(/redis|ECONN|127\.0\.0\.1/i);

    server = await startRedis({}, port);
    await recovered();
    // It has lost what it had counted before.
    expect(await stored()).toEqual({ minute: 55, day: 55 });
    const next = await call();
    expect([next.status, isDegraded(next), left(next)]).toEqual([200, false, 4]);
  });

  it('as it hangs: requests wait no longer than the deadline, then not at all, and nothing counts twice', async () => {
    for (let sent = 0; sent < 5; sent += 1) {
      await call();
    }
    server.pause();
    const first = await call();
    expect([first.status, isDegraded(first), left(first)]).toEqual([200, true, 54]);
    // By then either three questions were not answered, or the connection was given up.
    await until(async () => {
      const start = performance.now();
      await call(other);
      return performance.now() - start < 100;
    });
    const start = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
    expect(performance.now() - start).toBeLessThan(QUICK_MS);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.every(isDegraded)).toBe(true);
    server.goOn();
    await recovered();
    // Of the first nobody knew whether it was counted. Redis, which had it in its socket, may have done so.
    const { minute, day } = await stored();
    expect([25, 26]).toContain(minute);
    expect(day).toBe(minute);
    const next = await call();
    expect([next.status, isDegraded(next), left(next)]).toEqual([200, false, 60 - minute - 1]);
  });

  it('for one key alone, which holds something else: the others are counted, and so is that one once it is gone', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const broken = await service.issue({ plan: 'enterprise', perMinute: 60, perDay: 1000 });
    const place = `${PREFIX}:{quota:${broken.quotaId}}`;
    await server.operator.set(place, 'no hash');
    try {
      for (let round = 0; round < 5; round += 1) {
        for (let sent = 0; sent < 3; sent += 1) {
          const spoilt = await call(broken);
          expect([spoilt.status, isDegraded(spoilt)]).toEqual([200, true]);
        }
        const whole = await call();
        expect([whole.status, isDegraded(whole), left(whole)]).toEqual([200, false, 59 - round]);
      }
      expect(warn.mock.calls.map(([line]) => line)).toEqual([
        `What Redis has at ${place} cannot be used, and is tried again: it is no counter`,
      ]);
      await server.operator.del(place);
      expect(isDegraded(await call(broken))).toBe(false);
    } finally {
      warn.mockRestore();
    }
  });
});
