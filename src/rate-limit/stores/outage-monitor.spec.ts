import { Logger } from '@nestjs/common';
import { Clock } from '../../settings/clock.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { OutageMonitor } from './outage-monitor.js';

const PROBE_INTERVAL_MS = 500;
const AWAY = [expect.stringContaining('is away')];
const BACK = [expect.stringContaining('is back')];

let monitor: OutageMonitor;
let lines: jest.SpyInstance;

beforeEach(() => {
  jest.useFakeTimers();
  Logger.overrideLogger(false);
  const logger = new Logger();
  lines = jest.spyOn(logger, 'warn');
  monitor = new OutageMonitor(logger, new Clock(), async () => {});
});
afterEach(() => {
  monitor.stop();
  jest.useRealTimers();
});

/** Records that a query failed, and returns the state after that. */
function fail(kind: FailureKind = 'failed'): string {
  monitor.failed(new CounterStoreError(kind, new Error(kind)));
  return monitor.breakerState;
}

/** Records that a query succeeded, and returns the state after that. */
function succeed(): string {
  monitor.succeeded();
  return monitor.breakerState;
}

const probe = () => jest.advanceTimersByTimeAsync(PROBE_INTERVAL_MS);

describe('OutageMonitor', () => {
  it('opens at the third failure in a row, and logs that once', () => {
    expect([fail(), fail()]).toEqual(['closed', 'closed']);
    expect(lines).not.toHaveBeenCalled();
    expect([fail(), fail(), fail('noConnection')]).toEqual(['open', 'open', 'open']);
    expect(lines.mock.calls).toEqual([AWAY]);
  });

  it('counts from zero again after a success', () => {
    fail();
    fail();
    succeed();
    expect([fail(), fail()]).toEqual(['closed', 'closed']);
  });

  it('opens immediately without a connection', () => {
    expect(fail('noConnection')).toBe('open');
  });

  it('closes after a success while half open, and logs that once', async () => {
    fail('noConnection');
    await probe();
    expect(monitor.breakerState).toBe('half-open');
    expect([succeed(), succeed()]).toEqual(['closed', 'closed']);
    expect(lines.mock.calls).toEqual([AWAY, BACK]);
    expect([fail(), fail(), fail()]).toEqual(['closed', 'closed', 'open']);
  });

  it('stays open after the success of an earlier query', () => {
    fail('noConnection');
    expect(succeed()).toBe('open');
    expect(monitor.outage).not.toBeNull();
  });

  it('opens again at the first failure while half open, as part of the same outage', async () => {
    fail('noConnection');
    const since = monitor.outage?.since;
    for (let tries = 0; tries < 3; tries += 1) {
      await probe();
      expect(fail()).toBe('open');
    }
    await probe();
    expect(monitor.outage?.since).toBe(since);
    expect(succeed()).toBe('closed');
    expect(lines.mock.calls).toEqual([AWAY, BACK]);
    expect(monitor.outage).toBeNull();
  });
});
