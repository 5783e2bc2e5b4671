import type { RateLimitRequest } from '../rules/rate-limit-decision.js';
import { UnreportedUsageLog } from './unreported-usage-log.js';

const noonMs = Date.UTC(2027, 2, 5, 12);
const noon = noonMs / 60_000;
const day = Date.UTC(2027, 2, 5) / 86_400_000;
const request: RateLimitRequest = { bucketKey: 'quota:1', perMinute: 60, perDay: 1000 };

function admittedAt(...timesMs: number[]): UnreportedUsageLog {
  const tally = new UnreportedUsageLog(3);
  for (const nowMs of timesMs) {
    const banStatus = { refusalsUntilBan: null, ban: null };
    tally.add(request, { allowed: true, windows: [], nowMs, clockMs: nowMs, ...banStatus, degraded: true });
  }
  return tally;
}

describe('what was allowed without the store', () => {
  it('adds up within a minute and a day', () => {
    expect(admittedAt(noonMs, noonMs + 59_999).take(9)).toEqual([
      { ...request, minute: noon, minuteUsed: 2, day, dayUsed: 2 },
    ]);
  });

  it('is of the last minute, and of all of its day', () => {
    expect(admittedAt(noonMs, noonMs, noonMs + 60_000).take(9)).toEqual([
      { ...request, minute: noon + 1, minuteUsed: 1, day, dayUsed: 3 },
    ]);
  });

  it('is of the last day', () => {
    expect(admittedAt(noonMs, noonMs + 86_400_000).take(9)).toEqual([
      { ...request, minute: noon + 1440, minuteUsed: 1, day: day + 1, dayUsed: 1 },
    ]);
  });

  it('that could not be told is taken back, and counts in its own windows', () => {
    const tally = admittedAt(noonMs, noonMs);
    const untold = tally.take(9);
    expect(tally.size).toBe(0);
    tally.restore(untold);
    tally.restore(admittedAt(noonMs + 60_000).take(9));
    tally.restore(untold);
    expect(tally.take(9)).toEqual([{ ...request, minute: noon + 1, minuteUsed: 1, day, dayUsed: 5 }]);
  });

  it('is handed out in parts', () => {
    const tally = admittedAt(noonMs);
    tally.restore([{ ...request, bucketKey: 'quota:2', minute: noon, minuteUsed: 1, day, dayUsed: 1 }]);
    expect([tally.take(1), tally.take(1), tally.take(1)].map(({ length }) => length)).toEqual([1, 1, 0]);
  });

  it('of strangers takes no room from clients', () => {
    const tally = admittedAt(noonMs);
    for (let stranger = 0; stranger < 9; stranger += 1) {
      tally.restore([
        {
          bucketKey: `address:${stranger}`,
          perMinute: 300,
          perDay: null,
          minute: noon,
          minuteUsed: 1,
          day,
          dayUsed: 1,
        },
      ]);
    }
    expect(tally.size).toBe(4);
    expect(tally.take(1)).toMatchObject([{ bucketKey: 'quota:1' }]);
  });
});
