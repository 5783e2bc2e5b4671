import type { RateLimitRequest } from '../rules/rate-limit-decision.js';
import { UnreportedUsageLog } from './unreported-usage-log.js';

const noonMs = Date.UTC(2027, 2, 5, 12);
const noon = noonMs / 60_000;
const day = Date.UTC(2027, 2, 5) / 86_400_000;
const request: RateLimitRequest = { bucketKey: 'quota:1', perMinute: 60, perDay: 1000 };

function allowedAt(...timesMs: number[]): UnreportedUsageLog {
  const log = new UnreportedUsageLog(3);
  for (const nowMs of timesMs) {
    const banStatus = { refusalsUntilBan: null, ban: null };
    log.add(request, { allowed: true, windows: [], nowMs, clockMs: nowMs, ...banStatus, degraded: true });
  }
  return log;
}

describe('UnreportedUsageLog', () => {
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
    const log = allowedAt(noonMs, noonMs);
    const unreported = log.next(9);
    expect(log.size).toBe(0);
    log.restore(unreported);
    log.restore(allowedAt(noonMs + 60_000).next(9));
    log.restore(unreported);
    expect(log.next(9)).toEqual([{ ...request, minute: noon + 1, minuteUsed: 1, day, dayUsed: 5 }]);
  });

  it('returns usage in parts', () => {
    const log = allowedAt(noonMs);
    log.restore([{ ...request, bucketKey: 'quota:2', minute: noon, minuteUsed: 1, day, dayUsed: 1 }]);
    expect([log.next(1), log.next(1), log.next(1)].map(({ length }) => length)).toEqual([1, 1, 0]);
  });

  it('drops usage of addresses first, which leaves room for quotas', () => {
    const log = allowedAt(noonMs);
    for (let address = 0; address < 9; address += 1) {
      log.restore([
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
    expect(log.size).toBe(4);
    expect(log.next(1)).toMatchObject([{ bucketKey: 'quota:1' }]);
  });
});
