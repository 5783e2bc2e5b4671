import { Logger } from '@nestjs/common';
import type { RateLimitDecision } from '../../src/rate-limit/rules/rate-limit-decision.js';
import {
  type CounterStore,
  CounterStoreError,
  type FailureKind,
} from '../../src/rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { TestClock } from '../support/counters/clock.js';
import { allowed, newBucket, remaining } from '../support/counters/counting.js';

const PING_INTERVAL_MS = 500;
const environment = { BAN_DURATIONS: [] };

describe('FallbackCounterStore', () => {
  let clock: TestClock;
  /** Why queries to the shared store fail; null while it replies. */
  let failure: CounterStoreError | null;
  let shared: CounterStore;
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
      liftBan: (bucketKey) => reply(() => counters.liftBan(bucketKey)),
    };
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
  function open(): FallbackCounterStore {
    const replica = new FallbackCounterStore(shared, environment, clock);
    opened.push(replica);
    return replica;
  }

  const fail = (kind: FailureKind) => {
    failure = new CounterStoreError(kind, new Error(kind));
  };
  const comeBack = async () => {
    failure = null;
    await jest.advanceTimersByTimeAsync(PING_INTERVAL_MS);
  };
  const consumeTimes = (count: number, request = newBucket(), replica = store) =>
    Promise.all(Array.from({ length: count }, () => replica.consume(request)));
  const isDegraded = ({ degraded }: RateLimitDecision) => degraded;

  it('counts locally as soon as the shared store refuses a connection', async () => {
    const request = newBucket(60, 1000);
    await consumeTimes(10, request);
    fail('refused');
    const decisions = await consumeTimes(53, request);
    expect(decisions.every(isDegraded)).toBe(true);
    expect(allowed(decisions)).toHaveLength(50);
    expect(store.decidedLocally).toBe(53);
  });

  it('rejects requests of queries without a reply, until the third in a row shows that the store is away', async () => {
    for (let query = 1; query <= 2; query += 1) {
      fail('silent');
      const outcomes = await Promise.allSettled(Array.from({ length: 9 }, () => store.consume(newBucket())));
      expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: failure })));
      expect(store.outage).toBeNull();
    }
    fail('silent');
    expect((await consumeTimes(9)).every(isDegraded)).toBe(true);
    expect(store.outage).toEqual({ since: expect.any(Date), error: failure });
  });

  it('counts silent queries anew after a reply, also after one that is an error', async () => {
    for (const reply of [() => (failure = null), () => fail('failed')]) {
      for (let query = 1; query <= 2; query += 1) {
        fail('silent');
        await expect(store.consume(newBucket())).rejects.toBe(failure);
      }
      reply();
      await store.peek(newBucket()).catch(() => {});
    }
    fail('silent');
    await expect(store.peek(newBucket())).rejects.toBe(failure);
  });

  it('rejects requests, and never counts locally, while queries fail otherwise', async () => {
    for (let query = 1; query <= 10; query += 1) {
      fail('failed');
      await expect(store.consume(newBucket())).rejects.toBe(failure);
    }
    expect([store.breakerState, store.decidedLocally, lines.mock.calls]).toEqual(['closed', 0, []]);
  });

  it('queries the shared store no more while it is away, pings it twice a second, and logs both ends of the outage', async () => {
    fail('refused');
    await consumeTimes(3);
    const consume = jest.spyOn(shared, 'consume');
    const ping = jest.spyOn(shared, 'ping');
    await consumeTimes(3);
    await expect(store.bans()).rejects.toBe(failure);
    await jest.advanceTimersByTimeAsync(4 * PING_INTERVAL_MS);
    expect([consume.mock.calls.length, ping.mock.calls.length]).toEqual([0, 4]);
    expect(lines.mock.calls).toEqual([
      ['The counter store is away, so this replica counts by itself: refused'],
    ]);
    await comeBack();
    expect((await consumeTimes(1)).some(isDegraded)).toBe(false);
    expect(lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('allows no more than one limit for each replica beside the shared limit when the store comes and goes ten times in a minute', async () => {
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
    clock.travel(60_000);
    fail('refused');
    expect(remaining(await store.consume(minute))[0]).toBe(59);
    expect((await store.consume(day)).allowed).toBe(false);
  });

  it('holds what it allowed by a clock that was ahead against the window that is open at the store', async () => {
    const request = newBucket(60, 1000);
    fail('refused');
    clock.travel(300_000);
    const ahead = open();
    expect(allowed(await consumeTimes(70, request, ahead))).toHaveLength(60);
    clock.travel(-300_000);
    await comeBack();
    await consumeTimes(1, request, ahead);
    fail('refused');
    expect(allowed(await consumeTimes(70, request, ahead))).toEqual([]);
  });
});
