import { rateLimitHeaders } from './headers.js';
import { windowState } from './windows.js';

const nowMs = Date.UTC(2027, 2, 5, 12, 34, 29, 500);
const minuteEnd = String(Date.UTC(2027, 2, 5, 12, 35) / 1000);
const dayEnd = String(Date.UTC(2027, 2, 6) / 1000);
const secondsOfDayLeft = Date.UTC(2027, 2, 6) / 1000 - Math.floor(nowMs / 1000);

const minute = (limit: number, used: number) =>
  windowState('minute', Math.floor(nowMs / 60_000), limit, used);
const day = (limit: number, used: number) => windowState('day', Math.floor(nowMs / 86_400_000), limit, used);

describe('the rate-limit headers', () => {
  it('tell the tightest window, and both windows in the IETF form', () => {
    expect(rateLimitHeaders({ admitted: true, windows: [minute(60, 1), day(1000, 41)], nowMs })).toEqual({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': minuteEnd,
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: `"minute";r=59;t=31, "day";r=959;t=${secondsOfDayLeft}`,
    });
  });

  it('tell the day once it has fewer requests remaining than the minute', () => {
    expect(
      rateLimitHeaders({ admitted: true, windows: [minute(60, 1), day(1000, 950)], nowMs }),
    ).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '50',
      'X-RateLimit-Reset': dayEnd,
    });
  });

  it('tell the day, which resets later, on a tie', () => {
    expect(
      rateLimitHeaders({ admitted: true, windows: [minute(60, 10), day(1000, 950)], nowMs }),
    ).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '50',
      'X-RateLimit-Reset': dayEnd,
    });
  });

  it('of a stranger tell the minute alone', () => {
    expect(rateLimitHeaders({ admitted: true, windows: [minute(300, 300)], nowMs })).toEqual({
      'X-RateLimit-Limit': '300',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': minuteEnd,
      'RateLimit-Policy': '"minute";q=300;w=60',
      RateLimit: '"minute";r=0;t=31',
    });
  });

  it('have Retry-After on a refusal alone: the last admitted request has none', () => {
    const windows = [minute(60, 60), day(1000, 60)];
    expect(rateLimitHeaders({ admitted: true, windows, nowMs })).not.toHaveProperty('Retry-After');
    expect(rateLimitHeaders({ admitted: false, windows, nowMs })).toMatchObject({ 'Retry-After': '31' });
  });

  it('have the wait for the day on its refusal, while the minute still has room', () => {
    const windows = [minute(60, 3), day(1000, 1000)];
    expect(rateLimitHeaders({ admitted: false, windows, nowMs })).toMatchObject({
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': dayEnd,
      'Retry-After': String(secondsOfDayLeft),
    });
  });

  it('have the later wait when both windows refuse', () => {
    const windows = [minute(60, 60), day(1000, 1000)];
    expect(rateLimitHeaders({ admitted: false, windows, nowMs })).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Reset': dayEnd,
      'Retry-After': String(secondsOfDayLeft),
    });
  });

  it('never tell a negative number', () => {
    const windows = [minute(10, 60), day(20, 60)];
    expect(rateLimitHeaders({ admitted: false, windows, nowMs })).toMatchObject({
      'X-RateLimit-Remaining': '0',
      RateLimit: `"minute";r=0;t=31, "day";r=0;t=${secondsOfDayLeft}`,
    });
  });
});
