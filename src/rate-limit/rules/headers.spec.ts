import { rateLimitReport } from './headers.js';
import type { RateLimitDecision } from './rate-limit-decision.js';
import { type WindowState, windowState } from './windows.js';

const nowMs = Date.UTC(2027, 2, 5, 12, 34, 29, 500);
const minuteEnd = String(Date.UTC(2027, 2, 5, 12, 35) / 1000);
const dayEnd = String(Date.UTC(2027, 2, 6) / 1000);
const secondsOfDayLeft = Date.UTC(2027, 2, 6) / 1000 - Math.floor(nowMs / 1000);

const minute = (limit: number, used: number) =>
  windowState('minute', Math.floor(nowMs / 60_000), limit, used);
const day = (limit: number, used: number) => windowState('day', Math.floor(nowMs / 86_400_000), limit, used);

const rateLimitHeaders = (decision: RateLimitDecision) => rateLimitReport(decision).headers;

const COUNTED = { nowMs, denials: 0, denialsUntilBan: 60, ban: null, degraded: false };

/** The headers of a request without a ban. */
const headersFor = (allowed: boolean, windows: WindowState[]) =>
  rateLimitHeaders({ ...COUNTED, allowed, windows });

describe('the rate-limit headers', () => {
  it('have the tightest window, and both windows in the IETF form', () => {
    expect(headersFor(true, [minute(60, 1), day(1000, 41)])).toEqual({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': minuteEnd,
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: `"minute";r=59;t=31, "day";r=959;t=${secondsOfDayLeft}`,
    });
  });

  it('have only the minute for an anonymous client', () => {
    expect(headersFor(true, [minute(300, 300)])).toEqual({
      'X-RateLimit-Limit': '300',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': minuteEnd,
      'RateLimit-Policy': '"minute";q=300;w=60',
      RateLimit: '"minute";r=0;t=31',
    });
  });

  it('have Retry-After only on a denial, not on the last allowed request', () => {
    const windows = [minute(60, 60), day(1000, 60)];
    expect(headersFor(true, windows)).not.toHaveProperty('Retry-After');
    expect(headersFor(false, windows)).toMatchObject({ 'Retry-After': '31' });
  });

  it('have the window that resets later when both are full', () => {
    expect(headersFor(false, [minute(60, 60), day(1000, 1000)])).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': dayEnd,
      RateLimit: `"minute";r=0;t=31, "day";r=0;t=${secondsOfDayLeft}`,
      'Retry-After': String(secondsOfDayLeft),
    });
  });

  it('have X-RateLimit-Degraded when the request was counted locally', () => {
    const windows = [minute(60, 1), day(1000, 41)];
    expect(rateLimitHeaders({ ...COUNTED, allowed: true, windows, degraded: true })).toEqual({
      ...headersFor(true, windows),
      'X-RateLimit-Degraded': 'true',
    });
  });

  describe('of a request during a ban', () => {
    /** Half past the next minute, and this many milliseconds. */
    const halfPastNext = (milliseconds: number) => Date.UTC(2027, 2, 5, 12, 35, 30, milliseconds);
    const whileBanned = (windows: WindowState[], untilMs: number) =>
      rateLimitHeaders({ ...COUNTED, allowed: false, windows, ban: { untilMs, started: false } });

    it('have nothing remaining until the end of the ban, rounded up, and the windows as they are', () => {
      expect(whileBanned([minute(60, 1), day(1000, 41)], halfPastNext(1))).toEqual({
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(halfPastNext(1000) / 1000),
        'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        RateLimit: `"minute";r=59;t=31, "day";r=959;t=${secondsOfDayLeft}`,
        'Retry-After': '62',
      });
    });

    it('have the end of the ban, even if a full day ends later', () => {
      expect(whileBanned([minute(60, 1), day(1000, 1000)], halfPastNext(0))).toEqual({
        'X-RateLimit-Limit': '1000',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(halfPastNext(0) / 1000),
        'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        RateLimit: `"minute";r=59;t=31, "day";r=0;t=${secondsOfDayLeft}`,
        'Retry-After': '61',
      });
    });

    it('have the end of the ban when it is before the end of the minute', () => {
      expect(whileBanned([minute(60, 60), day(1000, 60)], nowMs + 10_000)).toMatchObject({
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Reset': String(Math.ceil((nowMs + 10_000) / 1000)),
        RateLimit: `"minute";r=0;t=31, "day";r=940;t=${secondsOfDayLeft}`,
        'Retry-After': '11',
      });
    });

    it('have a wait that leads to X-RateLimit-Reset, by the clock that Date shows', () => {
      const sentSeconds = Math.floor(nowMs / 1000);
      for (const lastsMs of [60_000, 60_001, 59_500, 59_499, 300_000, 1]) {
        const headers = whileBanned([minute(60, 1)], nowMs + lastsMs);
        expect(sentSeconds + Number(headers['Retry-After'])).toBe(Number(headers['X-RateLimit-Reset']));
      }
    });

    it('have a wait of at least one second, even if the ban is ending', () => {
      expect(whileBanned([minute(60, 1)], nowMs)).toMatchObject({ 'Retry-After': '1' });
    });
  });
});
