import type { RateLimitRequest } from '../rules/rate-limit-decision.js';
import type { CounterStore } from './counter-store.js';
import { UsageReporter } from './usage-reporter.js';

const noonMs = Date.UTC(2027, 2, 5, 12);
const noon = noonMs / 60_000;
const day = Date.UTC(2027, 2, 5) / 86_400_000;
const request: RateLimitRequest = { bucketKey: 'quota:1', perMinute: 60, perDay: 1000 };

function allowedAt(...timesMs: number[]): UsageReporter {
  const reporter = new UsageReporter({} as CounterStore, 3);
  for (const nowMs of timesMs) {
    const banStatus = { refusalsUntilBan: null, ban: null };
    reporter.add(request, {
      allowed: true,
      windows: [],
      nowMs,
      clockMs: nowMs,
      ...banStatus,
      degraded: true,
    });
  }
  return reporter;
}

describe('UsageReporter', () => {
  it('adds up usage within a minute and a day', () => {
    expect(allowedAt(noonMs, noonMs + 59_999).next(9)).toEqual([
      { ...request, minute: noon, minuteUsed: 2, day, dayUsed: 2 },
    ]);
  });

  it('keeps the last minute, and the whole day of that minute', () => {
    expect(allowedAt(noonMs, noonMs, noonMs + 60_000).next(9)).toEqual([
      { ...request, minute: noon + 1, minuteUsed: 1, day, dayUsed: 3 },
    ]);
  });

  it('keeps the last day', () => {
    expect(allowedAt(noonMs, noonMs + 86_400_000).next(9)).toEqual([
      { ...request, minute: noon + 1440, minuteUsed: 1, day: day + 1, dayUsed: 1 },
    ]);
  });

  it('restores usage that could not be reported, and adds it to its own windows', () => {
    const reporter = allowedAt(noonMs, noonMs);
    const unreported = reporter.next(9);
    expect(reporter.size).toBe(0);
    reporter.restore(unreported);
    reporter.restore(allowedAt(noonMs + 60_000).next(9));
    reporter.restore(unreported);
    expect(reporter.next(9)).toEqual([{ ...request, minute: noon + 1, minuteUsed: 1, day, dayUsed: 5 }]);
  });

  it('returns usage in parts', () => {
    const reporter = allowedAt(noonMs);
    reporter.restore([{ ...request, bucketKey: 'quota:2', minute: noon, minuteUsed: 1, day, dayUsed: 1 }]);
    expect([reporter.next(1), reporter.next(1), reporter.next(1)].map(({ length }) => length)).toEqual([
      1, 1, 0,
    ]);
  });

  it('drops usage of addresses first, which leaves room for quotas', () => {
    const reporter = allowedAt(noonMs);
    for (let address = 0; address < 9; address += 1) {
      reporter.restore([
        {
          bucketKey: `address:${address}`,
          perMinute: 300,
          perDay: null,
          minute: noon,
          minuteUsed: 1,
          day,
          dayUsed: 1,
        },
      ]);
    }
    expect(reporter.size).toBe(4);
    expect(reporter.next(1)).toMatchObject([{ bucketKey: 'quota:1' }]);
  });
});
