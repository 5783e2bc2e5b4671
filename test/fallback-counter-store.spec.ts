import { Logger } from '@nestjs/common';
import { readEnvironment } from '../src/environment.js';
import { CounterStoreError, type FailureKind } from '../src/rate-limit/stores/counter-store.js';
import type { RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import { FallbackCounterStore } from '../src/rate-limit/stores/fallback-counter-store.js';
import { RedisCounterStore } from '../src/rate-limit/stores/redis-counter-store.js';
import { TestClock } from './support/clock.js';

const MINUTE_MS = 60_000;
const PROBE_INTERVAL_MS = 1000;

type Outcome = FailureKind | 'answered';

describe('a question whose parts fail in several ways', () => {
  const environment = readEnvironment({ COUNTER_STORE: 'redis://127.0.0.1:1', BAN_DURATIONS: '' });
  const clock = new TestClock();
  let store: FallbackCounterStore;
  let asked: jest.SpyInstance;
  let pinged: jest.SpyInstance;
  let lines: jest.SpyInstance;
  /** What becomes of each part of the questions to come; of a question that is not among them all is answered. */
  let outcomes: Outcome[][];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    Logger.overrideLogger(false);
    outcomes = [];
    const shared = new RedisCounterStore(environment, clock);
    store = new FallbackCounterStore(shared, environment, clock);
    lines = jest.spyOn(store['logger'], 'warn').mockReturnValue();
    pinged = jest.spyOn(shared['connection'], 'ping').mockResolvedValue();
    asked = jest.spyOn(shared['connection'], 'run').mockImplementation(async (_script, calls) => {
      const question = outcomes.shift() ?? [];
      // As the connection has it: one error for each kind of failure.
      const errors = new Map(
        (['noConnection', 'failed', 'outcomeUnknown', 'conflict', 'notSent'] as const).map((kind) => [
          kind as Outcome,
          new CounterStoreError(kind, new Error(kind)),
        ]),
      );
      return calls.map((_call, index) => errors.get(question[index] ?? 'answered') ?? reply());
    });
  });
  afterEach(() => {
    store.onApplicationShutdown();
    jest.useRealTimers();
  });

  /** What consume.lua returns of who was allowed. */
  function reply(): unknown[] {
    const minute = Math.floor(clock.now() / MINUTE_MS);
    const day = Math.floor(minute / 1440);
    return [1, 0, 0, null, minute, 1, day, 1, clock.now(), clock.now()];
  }

  const askOf = (name: string): RateLimitRequest => ({
    bucketKey: `quota:${name}`,
    perMinute: 60,
    perDay: 1000,
  });

  /** Asks one question of as many parts. */
  async function askOfEach(...parts: Outcome[]): Promise<void> {
    outcomes = [parts];
    await Promise.all([...parts.keys()].map((number) => store.consume(askOf(String(number)))));
  }

  it('is one that failed, however they alternate', async () => {
    await askOfEach('failed', 'outcomeUnknown', 'failed', 'outcomeUnknown', 'failed');
    expect(lines).not.toHaveBeenCalled();
    expect((await store.consume(askOf('next'))).degraded).toBe(false);
  });

  it('is told of as away once, whatever other parts were answered, and is asked whether it is back by one timer', async () => {
    await askOfEach(
      'noConnection',
      'answered',
      'failed',
      'answered',
      'outcomeUnknown',
      'noConnection',
      'answered',
      'failed',
    );
    expect(lines.mock.calls).toEqual([[expect.stringContaining('is away')]]);
    expect(jest.getTimerCount()).toBe(1);
    asked.mockClear();
    expect((await store.consume(askOf('next'))).degraded).toBe(true);
    expect(asked).not.toHaveBeenCalled();

    await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
    expect(jest.getTimerCount()).toBe(0);
    expect((await store.consume(askOf('next'))).degraded).toBe(false);
    expect(lines.mock.calls.slice(1)).toEqual([[expect.stringContaining('is back')]]);
  });

  it('is logged as away once in an outage, however many probes and requests fail after it', async () => {
    const failure = new CounterStoreError('noConnection', new Error('noConnection'));
    const away = [expect.stringContaining('is away')];
    const back = [expect.stringContaining('is back')];
    for (const earlier of [[], [away, back]]) {
      pinged.mockRejectedValue(failure);
      await askOfEach('noConnection');
      await jest.advanceTimersByTimeAsync(5 * PROBE_INTERVAL_MS);
      expect(await store.outage()).toMatchObject({ reason: expect.stringContaining('noConnection') });
      expect(lines.mock.calls).toEqual([...earlier, away]);
      // It gives a sign of life, but does not count yet: the same outage.
      pinged.mockResolvedValue(undefined);
      for (const kind of ['noConnection', 'failed', 'outcomeUnknown'] as const) {
        await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
        await askOfEach(kind);
      }
      expect(lines.mock.calls).toEqual([...earlier, away]);
      await jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);
      await askOfEach('answered');
      expect(lines.mock.calls).toEqual([...earlier, away, back]);
    }
    expect(pinged.mock.calls.length).toBeGreaterThanOrEqual(18);
  });

  it('is an error, and never counted locally, where it met other transactions: the store is there', async () => {
    for (let question = 1; question <= 5; question += 1) {
      outcomes = [['conflict']];
      await expect(store.consume(askOf('met'))).rejects.toMatchObject({ kind: 'conflict' });
    }
    expect([store.breakerState, store.decidedLocally, lines.mock.calls]).toEqual(['closed', 0, []]);
    expect((await store.consume(askOf('met'))).degraded).toBe(false);
  });
});
