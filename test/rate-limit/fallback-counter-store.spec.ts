import { requestDeadlineError } from '../../src/database/access/request-deadline.js';
import { Logger } from '@nestjs/common';
import type { RateLimitDecision } from '../../src/rate-limit/rules/rate-limit-decision.js';
import type { UnavailableError } from '../../src/database/access/unavailable-error.js';
import { type CounterStore, counterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { MINUTE_MS, TestClock } from '../support/time/clock.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import type { AnyCounterStore } from '../support/counter-stores.js';
import { allowed, banEnd, consume, descending, newBucket, remaining, summarize } from './counting.js';

const PING_INTERVAL_MS = 500;
/** By how much a clock is ahead. */
const AHEAD_MS = 5 * MINUTE_MS;

describe('FallbackCounterStore', () => {
  let clock: TestClock;
  /** Why queries to the shared store fail; null while it replies. */
  let failure: UnavailableError | null;
  let shared: AnyCounterStore;
  let reconnect: jest.Mock;
  let rejectQueued: jest.Mock;
  let store: FallbackCounterStore;
  let lines: jest.SpyInstance;
  let opened: FallbackCounterStore[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    clock = new TestClock();
    clock.travelToMinuteStart();
    failure = null;
    const counters = new LocalCounterStore(() => clock.now(), []);
    const reply = async <T>(query: () => T) => {
      if (failure !== null) {
        throw failure;
      }
      return query();
    };
    shared = {
      consume: (request) => reply(() => counters.consume(request)),
      peek: (request) => reply(() => counters.peek(request)),
      ping: () => reply(() => {}),
      bans: () => reply(() => new Map()),
      liftBan: () => reply(() => null),
    };
    reconnect = jest.fn();
    rejectQueued = jest.fn();
    lines = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    opened = [];
    store = open();
  });
  afterEach(() => {
    opened.forEach((each) => each.onApplicationShutdown());
    jest.useRealTimers();
    lines.mockRestore();
  });

  /** Opens the counter store of one more replica. */
  function open(its = clock, BAN_DURATIONS: number[] = []): FallbackCounterStore {
    const actions = { reconnect, rejectQueued };
    const itsShared = Object.assign(shared, actions) as Partial<CounterStore> as CounterStore;
    const replica = new FallbackCounterStore(itsShared, { BAN_DURATIONS }, its);
    opened.push(replica);
    return replica;
  }

  /** Opens a replica that knows a ban of the shared store. */
  async function openWithBan() {
    const [request, replica] = [newBucket(2), open(clock, [MINUTE_MS])];
    const end = new Date(clock.now() + MINUTE_MS);
    const ban = { untilMs: end.getTime(), started: true };
    const starter = { ...(await shared.peek(request)), allowed: false, denialsUntilBan: 0, ban };
    jest.spyOn(shared, 'consume').mockResolvedValueOnce(starter);
    await replica.consume(request);
    return { request, replica, end };
  }

  const fail = (reason: string) => {
    failure = counterStoreError(new Error(reason), true, reason);
  };
  const comeBack = async () => {
    failure = null;
    await jest.advanceTimersByTimeAsync(PING_INTERVAL_MS);
  };
  const consumeTimes = (count: number, request = newBucket(), replica = store) =>
    consume(request, count, replica);
  const isDegraded = ({ degraded }: RateLimitDecision) => degraded;

  it('counts locally as soon as the shared store refuses a connection', async () => {
    const request = newBucket(60, 1000);
    await consumeTimes(10, request);
    fail('refused');
    const decisions = await consumeTimes(53, request);
    expect(decisions.every(isDegraded)).toBe(true);
    expect(allowed(decisions)).toHaveLength(50);
    expect(store.decidedLocally).toBe(53);
    expect(rejectQueued.mock.calls).toEqual([[failure]]);
  });

  it('limits anonymous clients too', async () => {
    const anonymous = newBucket(5, null);
    await consumeTimes(2, anonymous);
    fail('refused');
    const decisions = await consumeTimes(4, anonymous);
    expect(decisions.map((decision) => [decision.allowed, ...remaining(decision)])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
  });

  it('enforces a known ban until its end', async () => {
    const { request, replica, end } = await openWithBan();
    fail('refused');
    const banned = await replica.consume(request);
    expect([summarize([banned]), banEnd(banned)]).toEqual(['1 banned', end]);
    clock.travelTo(end);
    expect(await replica.consume(request)).toMatchObject({ allowed: true, degraded: true });
  });

  it('forgets a ban that was lifted in the shared store', async () => {
    const { request, replica, end } = await openWithBan();
    jest.spyOn(shared, 'liftBan').mockResolvedValueOnce(end);
    expect(await replica.liftBan(request.bucketKey)).toEqual(end);
    fail('refused');
    expect(await replica.consume(request)).toMatchObject({ allowed: true, denials: 0, ban: null });
  });

  it('starts no ban itself, and goes on from the denials of the shared store', async () => {
    const [request, replica] = [newBucket(2), open(clock, [MINUTE_MS])];
    const before = denialsBeforeBan(2);
    await consumeTimes(3, request, replica);
    fail('refused');
    const decisions = await consumeTimes(before + 1, request, replica);
    expect(decisions.map(({ ban }) => ban)).toEqual(decisions.map(() => null));
    expect(decisions.map(({ denials }) => denials)).toEqual(descending(before + 2, 2).toReversed());
  });

  it('starts a new minute by the last time of the store, and continues the day', async () => {
    const request = newBucket(3, 5);
    await consumeTimes(3, request);
    fail('refused');
    expect((await store.consume(request)).allowed).toBe(false);
    clock.travel(MINUTE_MS);
    expect((await consumeTimes(3, request)).map(remaining)).toEqual([
      [2, 1],
      [1, 0],
      [1, 0],
    ]);
  });

  it('does not take a window ahead for the time of the store, even if its own clock is ahead', async () => {
    class ClockAhead extends TestClock {
      override now = () => clock.now() + AHEAD_MS;
    }
    const request = newBucket();
    clock.travel(AHEAD_MS);
    await shared.consume(request);
    clock.travel(-AHEAD_MS);
    const ahead = open(new ClockAhead());
    const secondsToReset = ({ windows }: RateLimitDecision) =>
      (windows[0]?.resetSeconds ?? 0) - clock.now() / 1000;
    expect(secondsToReset(await ahead.consume(request))).toBeGreaterThan(240);
    fail('refused');
    const other = await ahead.consume(newBucket());
    expect(other.degraded).toBe(true);
    expect(secondsToReset(other)).toBeLessThanOrEqual(60);
  });

  it('gives an unknown quota a full window, and holds its use against it in the next outage', async () => {
    const [unseen, other] = [newBucket(), open()];
    fail('refused');
    expect(allowed(await consumeTimes(65, unseen))).toHaveLength(60);
    expect(allowed(await consumeTimes(40, unseen, other))).toHaveLength(40);
    await comeBack();
    expect(allowed(await consumeTimes(10, unseen, other))).toHaveLength(10);
    fail('refused');
    expect(allowed(await consumeTimes(5, unseen))).toStrictEqual([]);
    expect(allowed(await consumeTimes(15, unseen, other))).toHaveLength(10);
  });

  it('rejects requests of queries without a reply, until three in a row show an outage', async () => {
    for (let query = 1; query <= 2; query += 1) {
      fail('silent');
      const outcomes = await Promise.allSettled(Array.from({ length: 9 }, () => store.consume(newBucket())));
      expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: failure })));
      expect(store.outage).toBeNull();
    }
    expect([reconnect.mock.calls, rejectQueued.mock.calls]).toEqual([[], []]);
    fail('silent');
    expect((await consumeTimes(9)).every(isDegraded)).toBe(true);
    expect(store.outage).toEqual({ since: expect.any(Date), error: failure });
    expect([reconnect.mock.calls, rejectQueued.mock.calls]).toEqual([[[]], [[failure]]]);
  });

  it('counts silent queries anew after a reply, even if it is an error', async () => {
    for (const reply of [() => (failure = null), () => fail('failed')]) {
      for (let query = 1; query <= 2; query += 1) {
        fail('silent');
        await expect(store.consume(newBucket())).rejects.toBe(failure);
      }
      reply();
      await store.consume(newBucket()).catch(() => {});
    }
    fail('silent');
    await expect(store.consume(newBucket())).rejects.toBe(failure);
  });

  it('counts silent queries on while other requests have no time left to be counted', async () => {
    for (const kind of ['silent', 'silent'] as const) {
      fail(kind);
      await expect(store.consume(newBucket())).rejects.toBe(failure);
    }
    failure = requestDeadlineError();
    await expect(store.consume(newBucket())).rejects.toBe(failure);
    fail('silent');
    expect(isDegraded(await store.consume(newBucket()))).toBe(true);
  });

  it('counts silent queries on while connections time out between them', async () => {
    for (const kind of ['silent', 'notConnected', 'silent', 'notConnected'] as const) {
      fail(kind);
      await expect(store.consume(newBucket())).rejects.toBe(failure);
    }
    fail('silent');
    expect(isDegraded(await store.consume(newBucket()))).toBe(true);
  });

  it('rejects reads without a reply, however many, and still counts in the shared store', async () => {
    const errors = Array.from({ length: 9 }, () => counterStoreError(new Error('silent'), true, 'silent'));
    const peek = jest.spyOn(shared, 'peek');
    errors.forEach((error) => peek.mockRejectedValueOnce(error));
    const outcomes = await Promise.allSettled(errors.map(() => store.peek(newBucket())));
    expect(outcomes).toEqual(errors.map((reason) => ({ status: 'rejected', reason })));
    expect(store.outage).toBeNull();
    expect((await consumeTimes(9)).some(isDegraded)).toBe(false);
  });

  it('counts locally once a connection refuses a read, as one master of a Cluster may', async () => {
    const refused = counterStoreError(new Error('refused'), true, 'refused');
    jest.spyOn(shared, 'peek').mockRejectedValueOnce(refused);
    expect(await store.peek(newBucket())).toMatchObject({ degraded: true, allowed: true });
    expect(store.outage?.error).toBe(refused);
  });

  it('decides locally about a read that fails after a count has begun an outage', async () => {
    let reject = (_error: Error): void => {};
    const pending = new Promise<never>((_resolve, rejectLater) => (reject = rejectLater));
    jest.spyOn(shared, 'peek').mockReturnValueOnce(pending);
    const read = store.peek(newBucket());
    fail('refused');
    await store.consume(newBucket());
    reject(counterStoreError(new Error('silent'), true, 'silent'));
    expect(await read).toMatchObject({ degraded: true, allowed: true });
  });

  it('rejects requests, and never counts locally, while queries fail otherwise', async () => {
    for (let query = 1; query <= 10; query += 1) {
      fail('failed');
      await expect(store.consume(newBucket())).rejects.toBe(failure);
    }
    expect([store.outage, store.decidedLocally, lines.mock.calls]).toEqual([null, 0, []]);
  });

  it('only pings an unavailable shared store, twice a second, and logs start and end', async () => {
    fail('refused');
    await consumeTimes(3);
    const [counts, pings] = [jest.spyOn(shared, 'consume'), jest.spyOn(shared, 'ping')];
    await consumeTimes(3);
    await expect(store.bans()).rejects.toBe(failure);
    await jest.advanceTimersByTimeAsync(4 * PING_INTERVAL_MS);
    expect([counts.mock.calls.length, pings.mock.calls.length]).toEqual([0, 4]);
    expect(lines.mock.calls).toEqual([
      ['The counter store is unavailable, so this replica counts locally: refused'],
    ]);
    await comeBack();
    expect((await consumeTimes(1)).some(isDegraded)).toBe(false);
    expect(lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('allows at most one more limit for each replica if the store goes ten times a minute', async () => {
    const [minute, day] = [newBucket(60, 1000), newBucket(1000, 60)];
    const replicas = [store, open(), open()];
    const local = new Map(replicas.map((replica) => [replica, [0, 0]]));
    const inStore = [0, 0];
    for (let round = 0; round < 10; round += 1) {
      for (const replica of replicas) {
        fail('refused');
        for (const [index, request] of [minute, day].entries()) {
          const decisions = allowed(await consumeTimes(20, request, replica));
          (local.get(replica) as number[])[index]! += decisions.length;
        }
        await comeBack();
        for (const [index, request] of [minute, day].entries()) {
          inStore[index]! += allowed(await consumeTimes(3, request, replica)).length;
        }
      }
    }
    expect(inStore).toEqual([60, 60]);
    for (const counts of local.values()) {
      expect(Math.max(...counts)).toBeLessThanOrEqual(60);
      expect(Math.min(...counts)).toBeGreaterThan(0);
    }
    clock.travel(MINUTE_MS);
    fail('refused');
    expect(remaining(await store.consume(minute))[0]).toBe(59);
    expect((await store.consume(day)).allowed).toBe(false);
  });

  it('holds what it allowed by a clock that was ahead against the window open at the store', async () => {
    const request = newBucket(60, 1000);
    fail('refused');
    clock.travel(AHEAD_MS);
    const ahead = open();
    expect(allowed(await consumeTimes(70, request, ahead))).toHaveLength(60);
    clock.travel(-AHEAD_MS);
    await comeBack();
    await consumeTimes(1, request, ahead);
    fail('refused');
    expect(allowed(await consumeTimes(70, request, ahead))).toStrictEqual([]);
  });
});
