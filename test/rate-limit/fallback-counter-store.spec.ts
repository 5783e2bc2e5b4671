import { Logger } from '@nestjs/common';
import { readEnvironment } from '../../src/settings/environment.js';
import { CounterStoreError, type FailureKind } from '../../src/rate-limit/stores/counter-store.js';
import type { RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import { TestClock } from '../support/counters/clock.js';

const MINUTE_MS = 60_000;
const PROBE_INTERVAL_MS = 500;

type Outcome = FailureKind | 'succeeded';

describe('FallbackCounterStore', () => {
  const environment = readEnvironment({ COUNTER_STORE: 'redis://127.0.0.1:1', BAN_DURATIONS: '' });
  const clock = new TestClock();
  let store: FallbackCounterStore;
  let run: jest.SpyInstance;
  let ping: jest.SpyInstance;
  let lines: jest.SpyInstance;
  /** The outcome of each item of the batches to come; a batch that is not listed succeeds. */
  let outcomes: Outcome[][];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    Logger.overrideLogger(false);
    outcomes = [];
    const shared = new RedisCounterStore(environment, clock);
    store = new FallbackCounterStore(shared, environment, clock);
    lines = jest.spyOn(store['logger'], 'warn').mockReturnValue();
    ping = jest.spyOn(shared['connection'], 'ping').mockResolvedValue();
    run = jest.spyOn(shared['connection'], 'run').mockImplementation(async (_script, calls) => {
      const batch = outcomes.shift() ?? [];
      // As the connection does: one error object for each kind of failure.
      const errors = new Map(
        (['noConnection', 'failed', 'outcomeUnknown', 'conflict', 'notSent'] as const).map((kind) => [
          kind as Outcome,
          new CounterStoreError(kind, new Error(kind)),
        ]),
      );
      return calls.map((_call, index) => errors.get(batch[index] ?? 'succeeded') ?? reply());
    });
  });
  afterEach(() => {
    store.onApplicationShutdown();
    jest.useRealTimers();
  });

  /** What consume.lua returns for an allowed request. */
  function reply(): unknown[] {
    const minute = Math.floor(clock.now() / MINUTE_MS);
    const day = Math.floor(minute / 1440);
    return [1, 0, 0, null, minute, 1, day, 1, clock.now(), clock.now()];
  }

  const requestOf = (name: string): RateLimitRequest => ({
    bucketKey: `quota:${name}`,
    perMinute: 60,
    perDay: 1000,
  });

  /** Consumes one batch whose items have these outcomes. */
  async function consumeBatch(...parts: Outcome[]): Promise<void> {
    outcomes = [parts];
    await Promise.all([...parts.keys()].map((number) => store.consume(requestOf(String(number)))));
  }

  it('counts a batch as one failure, however the kinds of failure alternate', async () => {
    await consumeBatch('failed', 'outcomeUnknown', 'failed', 'outcomeUnknown', 'failed');
    expect(lines).not.toHaveBeenCalled();
    expect((await store.consume(requestOf('next'))).degraded).toBe(false);
  });

  it('logs one outage and starts one probe timer for a batch whose items fail in several ways', async () => {
    await consumeBatch(
      'noConnection',
      'succeeded',
      'failed',
      'succeeded',
      'outcomeUnknown',
      'noConnection',
      'succeeded',
      'failed',
    );
    expect(lines.mock.calls).toEqual([[expect.stringContaining('is away')]]);
    expect(jest.getTimerCount()).toBe(1);
    run.mockClear();
    expect((await store.consume(requestOf('next'))).degraded).toBe(true);
    expect(run).not.toHaveBeenCalled();

    await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
    expect(jest.getTimerCount()).toBe(0);
    expect((await store.consume(requestOf('next'))).degraded).toBe(false);
    expect(lines.mock.calls.slice(1)).toEqual([[expect.stringContaining('is back')]]);
  });

  it('logs an outage once, however many probes and requests fail during it', async () => {
    const failure = new CounterStoreError('noConnection', new Error('noConnection'));
    const away = [expect.stringContaining('is away')];
    const back = [expect.stringContaining('is back')];
    for (const earlier of [[], [away, back]]) {
      ping.mockRejectedValue(failure);
      await consumeBatch('noConnection');
      await jest.advanceTimersByTimeAsync(5 * PROBE_INTERVAL_MS);
      expect(await store.outage()).toMatchObject({ error: { kind: 'noConnection' } });
      expect(lines.mock.calls).toEqual([...earlier, away]);
      // The store replies to probes but does not count yet, which is the same outage.
      ping.mockResolvedValue(undefined);
      for (const kind of ['noConnection', 'failed', 'outcomeUnknown'] as const) {
        await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
        await consumeBatch(kind);
      }
      expect(lines.mock.calls).toEqual([...earlier, away]);
      await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
      await consumeBatch('succeeded');
      expect(lines.mock.calls).toEqual([...earlier, away, back]);
    }
    expect(ping.mock.calls.length).toBeGreaterThanOrEqual(18);
  });

  it('throws a conflict with other transactions and does not count locally, as the store is reachable', async () => {
    for (let batch = 1; batch <= 5; batch += 1) {
      outcomes = [['conflict']];
      await expect(store.consume(requestOf('met'))).rejects.toMatchObject({ kind: 'conflict' });
    }
    expect([store.breakerState, store.decidedLocally, lines.mock.calls]).toEqual(['closed', 0, []]);
    expect((await store.consume(requestOf('met'))).degraded).toBe(false);
  });
});
