import {
  isFarAhead,
  retryAfterSeconds,
  secondsToReset,
  tightestWindow,
  type WindowState,
  windowState,
} from './windows.js';

const noon = Date.UTC(2027, 2, 5, 12, 0, 0);
const minuteNumber = noon / 60_000;
const dayNumber = Date.UTC(2027, 2, 5) / 86_400_000;

const minute = (limit: number, used: number): WindowState => windowState('minute', minuteNumber, limit, used);
const day = (limit: number, used: number): WindowState => windowState('day', dayNumber, limit, used);

describe('a window', () => {
  it('of a minute ends with its UTC minute', () => {
    expect(minute(60, 1)).toEqual({
      name: 'minute',
      lengthSeconds: 60,
      limit: 60,
      remaining: 59,
      resetSeconds: Date.UTC(2027, 2, 5, 12, 1) / 1000,
    });
  });

  it('of a day ends with its UTC day', () => {
    expect(day(1000, 1)).toEqual({
      name: 'day',
      lengthSeconds: 86_400,
      limit: 1000,
      remaining: 999,
      resetSeconds: Date.UTC(2027, 2, 6) / 1000,
    });
  });

  it('has nothing remaining, never less, when its limit was lowered below what was used', () => {
    expect(minute(60, 60).remaining).toBe(0);
    expect(minute(10, 60).remaining).toBe(0);
  });
});

describe('the window that a client meets first', () => {
  it('is the one with fewer requests remaining, whichever stands first', () => {
    expect(tightestWindow([minute(60, 1), day(1000, 1)]).name).toBe('minute');
    expect(tightestWindow([minute(60, 1), day(1000, 942)]).name).toBe('day');
    expect(tightestWindow([day(1000, 1), minute(60, 1)]).name).toBe('minute');
  });

  it('is, on a tie, the one that resets later', () => {
    expect(tightestWindow([minute(60, 60), day(1000, 1000)]).name).toBe('day');
    expect(tightestWindow([day(60, 1), minute(60, 1)]).name).toBe('day');
  });

  it('resets at midnight when minute and day tie in the last minute of a day', () => {
    const last = windowState('minute', Date.UTC(2027, 2, 5, 23, 59) / 60_000, 5, 5);
    expect(tightestWindow([last, day(5, 5)]).resetSeconds).toBe(Date.UTC(2027, 2, 6) / 1000);
  });

  it('is the only one where there is but one', () => {
    expect(tightestWindow([minute(300, 300)]).name).toBe('minute');
  });
});

describe('isFarAhead', () => {
  const midnight = Date.UTC(2027, 2, 5);

  it.each([
    ['minute', minute(60, 1), noon, 60_000],
    ['day', day(1000, 1), midnight, 86_400_000],
  ])(
    'is true of a %s that begins later than its own length from now, and of no other',
    (_name, window, startsMs, lengthMs) => {
      for (const [nowMs, expected] of [
        [startsMs + 1, false],
        [startsMs - 1, false],
        [startsMs - lengthMs, false],
        [startsMs - lengthMs - 1, true],
      ] as const) {
        expect(isFarAhead(window, nowMs)).toBe(expected);
      }
    },
  );
});

describe('the seconds to a reset', () => {
  it.each([
    [0, 60],
    [1, 60],
    [999, 60],
    [1000, 59],
    [59_000, 1],
    [59_999, 1],
    [60_000, 0],
  ])('%i ms into a minute are %i: rounded up, so that waiting them is enough', (passedMs, seconds) => {
    expect(secondsToReset(minute(60, 1), noon + passedMs)).toBe(seconds);
  });

  it('are never negative', () => {
    expect(secondsToReset(minute(60, 1), noon + 3_600_000)).toBe(0);
  });
});

describe('the seconds to wait after a refusal', () => {
  it('run to the end of the window that is full', () => {
    expect(retryAfterSeconds([minute(60, 60), day(1000, 60)], noon + 20_000)).toBe(40);
    expect(retryAfterSeconds([minute(60, 5), day(1000, 1000)], noon + 20_000)).toBe(12 * 3600 - 20);
  });

  it('run to the later end when both are full', () => {
    expect(retryAfterSeconds([minute(60, 60), day(1000, 1000)], noon)).toBe(12 * 3600);
  });

  it('are at least 1', () => {
    expect(retryAfterSeconds([minute(60, 60)], noon + 60_000)).toBe(1);
  });
});
